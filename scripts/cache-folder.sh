#!/bin/sh
# Prints the path of klatch's cache folder, by the rules of crates/host/src/privileges/places.rs. A test compares the two.
# usage: cache-folder.sh
set -eu
case ${XDG_CACHE_HOME:-} in
    /*) cache=$XDG_CACHE_HOME ;;
    # Under sudo, HOME can be the home of an ordinary user.
    *) if [ "$(id -u)" -eq 0 ]; then cache=/var/lib; else cache=$HOME/.cache; fi ;;
esac
echo "$cache/klatch"
