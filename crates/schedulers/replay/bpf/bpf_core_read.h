#pragma once

#define bpf_core_enum_value(type, value) (value)
