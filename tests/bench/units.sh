# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# Sourced: real programs as short units that one process does over and over, each unit the same work
# on the same data. What a unit takes in the steady state is the difference of what the same process
# takes for more of them and for fewer, start and end excluded: its accesses, and at every size its misses.
#
#     make_inputs DIR         what the programs work on, some MB
#     unit_command PROGRAM N  the shell command that does N units in that directory, as one process
#     unit_needs PROGRAM      the program to look for
#
# redis-server is given its commands by a client: unit_command then is the server's, and
# feed_units N DIR has N units done by it.

unit_programs='bzip2 xz sqlite3 python3 redis-server'

unit_needs() {
    case $1 in
    python3) echo /usr/bin/python3 ;;
    *) echo "$1" ;;
    esac
}

# Text that is there on every Debian, and numbers from a generator of our own, so that every machine
# works on the same.
make_inputs() { # DIR
    find /usr/share/common-licenses -type f | LC_ALL=C sort | xargs cat 2>/dev/null | head -c 100000 >"$1/text"
    head -c 40000 "$1/text" >"$1/part"
    cat >"$1/setup.sql" <<'SQL'
create table customer (id integer primary key, name text, region int);
create table item (id integer primary key, customer int, price int);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
    insert into customer select i, 'customer ' || i, i * 7919 % 50 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 16000)
    insert into item select i, i * 104729 % 5000 + 1, i * 31 % 997 from n;
create index by_customer on item (customer);
SQL
    cat >"$1/unit.sql" <<'SQL'
select region, count(*), sum(price) from customer join item on item.customer = customer.id
    group by region order by 3;
select name, max(price) from item join customer on customer.id = item.customer
    where price > 600 group by customer order by 2 desc, 1 limit 20;
SQL
    cat >"$1/unit.py" <<'PYTHON'
import sys

def unit(words):
    pairs, places, last = {}, {}, ""
    for place, word in enumerate(words):
        pairs[last, word] = pairs.get((last, word), 0) + 1
        places.setdefault(word, []).append(place)
        last = word
    order = sorted(pairs, key=lambda pair: (-pairs[pair], pair))
    return len(order) + sum(map(len, places.values()))

text = open("text").read().split()
for _ in range(int(sys.argv[1])):
    unit(text)
PYTHON
    awk 'BEGIN {
        for (i = 0; i < 1500; i++) {
            k = i * 7919 % 751
            print "SET key:" k " " sprintf("%0200d", i)
            print "GET key:" (i * 104729 % 751)
            print "HSET hash:" (k % 97) " field:" k " " i
            print "ZADD board " (i * 31 % 997) " member:" k
            if (i % 10 == 0) print "LPUSH list:" (k % 13) " " i
            if (i % 10 == 0) print "LTRIM list:" (k % 13) " 0 99"
            if (i % 50 == 0) print "ZRANGE board 0 50 REV"
        } }' >"$1/unit.redis"
}

repeated() { # N WORD
    yes "$2" | head -n "$1" | tr '\n' ' '
}

unit_command() { # PROGRAM N
    case $1 in
    bzip2) echo "bzip2 -9c $(repeated "$2" text)" ;;
    xz) echo "xz -T1 -6c $(repeated "$2" part)" ;;
    sqlite3)
        { cat setup.sql; for _ in $(seq "$2"); do cat unit.sql; done; } >"${units_script:-units.sql}"
        echo "sqlite3 -batch -init ${units_script:-units.sql} :memory: .quit"
        ;;
    python3) echo "/usr/bin/python3 -IS unit.py $2" ;;
    redis-server) echo "redis-server --save '' --appendonly no --port 0 --unixsocket ${redis_socket:-./redis.sock}" ;;
    esac
}

feed_units() { # N: into the server, whose answers say that all is done
    for _ in $(seq "$1"); do cat unit.redis; done |
        redis-cli -s "${redis_socket:-./redis.sock}" --pipe >/dev/null
}
