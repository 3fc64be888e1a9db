# What the scripts of the set-up share; sourced by them.
say() { printf 'assay set-up: %s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null 2>&1; then sudo "$@"; else return 1; fi
}

# apt_install PACKAGE: quietly, where there is apt; a sentence if it does not work.
apt_install() {
    command -v apt-get >/dev/null 2>&1 || return 0
    say "installing $1 with apt ..."
    export DEBIAN_FRONTEND=noninteractive
    { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "$1"; } >/dev/null 2>&1 \
        || say "apt could not install it."
}
