#pragma once

#define BPF_PROG(name, ...) name(__VA_ARGS__)
