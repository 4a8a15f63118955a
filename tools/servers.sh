# shellcheck shell=bash
# The real servers that tests and benchmarks use: daemons of our own on loopback, with their data
# below build/servers. What the system runs, for example Debian's redis-server on 6379, is left
# alone. Sourced by dev.

redis_port=16379
redis_folder=$PWD/build/servers/redis

servers() {
    case "${1:-}" in
        up) servers_up ;;
        down) servers_down ;;
        urls)
            echo "sqlite:$PWD/build/servers/holdfast.db"
            echo "redis://127.0.0.1:$redis_port"
            ;;
        *) fail "usage: ./dev servers up|down|urls" ;;
    esac
}

servers_up() {
    need_to_test
    mkdir -p build/servers
    redis_up
}

servers_down() {
    redis_down
    rm -rf build/servers
}

# within SECONDS COMMAND...: waits until the command succeeds; fails if it does not in time.
within() {
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        [[ $SECONDS -lt $end ]] || return 1
        sleep 0.02
    done
}

redis_up() {
    if redis_pid >/dev/null; then
        within 10 redis_answers || redis_failed "runs, and does not answer"
        echo "redis: runs already on 127.0.0.1:$redis_port"
        return
    fi
    if port_is_taken "$redis_port"; then
        fail "redis: port $redis_port is taken by $(user_of_redis_port)"
    fi
    mkdir -p "$redis_folder"
    rm -f "$redis_folder"/redis.{pid,log}
    redis_launch || redis_failed "does not start"
    within 10 redis_answers || redis_failed "does not answer"
    echo "redis: runs on 127.0.0.1:$redis_port"
}

redis_launch() {
    local socket=(--unixsocket "$redis_folder/redis.sock" --unixsocketperm 700)
    # The kernel takes 107 characters, and who takes more cuts off the end in silence.
    if [[ ${#socket[1]} -gt 100 ]]; then
        echo "redis: without a Unix socket, its path would be too long: ${socket[1]}" >&2
        socket=()
    fi
    redis-server --daemonize yes --dir "$redis_folder" --pidfile "$redis_folder/redis.pid" \
        --logfile "$redis_folder/redis.log" --bind 127.0.0.1 --port "$redis_port" \
        "${socket[@]}" --protected-mode yes --appendonly no --save ""
}

redis_down() {
    local pid
    if pid=$(redis_pid); then
        kill "$pid"
        # One that was stopped by a signal hears nothing else. The data go anyway.
        within 10 redis_is_gone "$pid" || kill -KILL "$pid"
        within 10 redis_is_gone "$pid" || fail "redis: process $pid does not end"
        echo "redis: ended"
    else
        echo "redis: does not run"
    fi
    rm -rf "$redis_folder"
}

# The process of our server; fails if there is none.
redis_pid() {
    local pid
    pid=$(cat "$redis_folder/redis.pid" 2>/dev/null) && is_our_redis "$pid" && echo "$pid"
}

# A pid may have gone to another process since. Ours is called so, and lives in our folder.
is_our_redis() {
    [[ $(tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline") == *redis-server* &&
        $(readlink "/proc/$1/cwd") == "$(realpath "$redis_folder")" ]] 2>/dev/null
}

redis_is_gone() {
    ! is_our_redis "$1"
}

redis_answers() {
    [[ $(ask_redis ping) == PONG ]] && redis_pid >/dev/null
}

ask_redis() {
    timeout 2 redis-cli -h 127.0.0.1 -p "$redis_port" "$@" 2>/dev/null
}

port_is_taken() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

user_of_redis_port() {
    local pid folder
    pid=$(ask_redis info server | tr -d '\r' | sed -n 's/^process_id://p') || true
    if [[ -n $pid ]]; then
        folder=$(ask_redis config get dir | sed -n 2p) || true
        echo "another redis-server, process $pid with its data in ${folder:-an unknown folder}"
    else
        # Tells the process if it is ours to see.
        ss -Hltnp "sport = :$redis_port" 2>/dev/null | grep -oP 'users:\(\(\K[^)]*' ||
            echo "another program"
    fi
}

redis_failed() {
    if [[ -s $redis_folder/redis.log ]]; then
        tail -n 15 "$redis_folder/redis.log" >&2
    fi
    fail "redis: the server $1; its log: $redis_folder/redis.log"
}
