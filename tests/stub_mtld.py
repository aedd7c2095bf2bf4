#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""stub_mtld.py SOCKET SCENARIO: what mtld would answer, of processes that are made up.

Hardware watchpoints need not fire here and curves take seconds of CPU time; this stands in for mtld
where only its answers matter. SCENARIO is read again for every question, so that a test can change
it under way: {"processes": [{"pid", "comm", "state", ..., "misses": [[bytes, misses], ...]}]}.
A curve falls by so many misses around each of these sizes; without "misses" there are too few
observations. "answers": what is answered to the question for its curve, whatever that is. "error": {"Method": {"error", "parameters"}}
refuses. Every question is appended to
SCENARIO.log, one JSON object a line.
"""

import json
import os
import socketserver
import sys

QUESTIONS = 0
SIZES = [32768 * 2 ** (i / 2) for i in range(22)]  # to 45 MiB


def point(process, size):
    scale = 1 + process.get("grows", 0) * QUESTIONS
    misses = process.get("floor", 0) + scale * sum(m / (1 + (size / at) ** 4) for at, m in process["misses"])
    wide = process.get("wide", 0.1)
    return {
        "size_bytes": size,
        "fill_time_seconds": size * 1e-9 if size < process["footprint_bytes"] else None,
        "misses_per_second": misses,
        "low": misses * (1 - wide),
        "high": misses * (1 + wide),
        "miss_ratio": misses / 1e9 if process.get("counted") else None,
        "relative_miss_ratio": None,
        "below_resolution": size < process["resolution_bytes"],
    }


def listed(process):
    usual = {"comm": "prog", "state": "sampling", "reason": None, "threads": 1, "observations": 900,
             "observations_needed": 60, "births": 5, "lost": 0, "resident_bytes": 32 << 20,
             "cpu_seconds": 20.0, "wall_seconds": 40.0, "overhead_target": 0.004,
             "observations_per_second": 40.0, "accesses_per_second": None, "l1_misses_per_second": None,
             "l2_misses_per_second": None, "llc_misses_per_second": None}
    return {"pid": process["pid"], **{key: process.get(key, value) for key, value in usual.items()}}


def curve(process, parameters):
    if "answers" in process:
        return process["answers"]
    entry = {**listed(process), "footprint_bytes": 24 << 20, "resolution_bytes": 1 << 18, **process}
    if "misses" not in process:
        return {"error": "io.mtld.NotEnoughObservations",
                "parameters": {"pid": process["pid"], "observations": entry["observations"], "needed": 60}}
    return {"parameters": {"curve": {
        "pid": process["pid"], "comm": entry["comm"], "method": "residual", "rung": "watchpoints",
        "clock": "cpu", "window_seconds": 30.0, "wall_seconds": entry["wall_seconds"],
        "observations": entry["observations"], "effective_observations": 0.8 * entry["observations"],
        "lost": 0, "resident_bytes": entry["resident_bytes"], "footprint_bytes": entry["footprint_bytes"],
        "footprint_window_seconds": 1.5, "resolution_bytes": entry["resolution_bytes"],
        "resolution_seconds": 5e-05, "cpu_seconds": entry["cpu_seconds"],
        "accesses_per_second": 1e9 if process.get("counted") else None, "l1_misses_per_second": None,
        "l2_misses_per_second": None, "llc_misses_per_second": None, "reference_bytes": 1 << 20,
        "agreement": {"cache_bytes": 33554432.0, "predicted_misses_per_second": None, "measured_misses_per_second": None, "ratio": None, "reason": "not counted"}, "overhead": {"target": 0.004, "daemon": 0.003}, "note": None,
        "points": [point(entry, size) for size in parameters.get("sizes") or SIZES], "footprint": []}}}


def status(scenario):
    usual = {"version": "0.1.0", "pid": 1, "uptime_seconds": 100.0, "rung": "watchpoints",
             "reason": "watchpoints fire", "calibration": None, "max_overhead": 0.01,
             "max_daemon_cpu": 0.01, "daemon_cpu": 0.004, "processes": len(scenario["processes"]),
             "max_processes": 64, "lost": 3, "clients": 1, "address_samples": [], "address_reason": None}
    return {"parameters": {**usual, **scenario.get("status", {})}}


def answer(scenario, call):
    method = call["method"].removeprefix("io.mtld.")
    parameters = call.get("parameters") or {}
    if method in scenario.get("error", {}):
        return scenario["error"][method]
    if method == "Status":
        return status(scenario)
    if method == "List":
        return {"parameters": {"processes": [listed(process) for process in scenario["processes"]]}}
    for process in scenario["processes"]:
        if method == "Curve" and process["pid"] == parameters["pid"]:
            return curve(process, parameters)
    return {"error": "io.mtld.NotTracked", "parameters": {"pid": parameters.get("pid", 0)}}


class Client(socketserver.StreamRequestHandler):
    def handle(self):
        global QUESTIONS
        rest = b""
        while chunk := self.request.recv(65536):
            *calls, rest = (rest + chunk).split(b"\0")
            for call in map(json.loads, calls):
                QUESTIONS += 1
                with open(sys.argv[2] + ".log", "a", encoding="utf-8") as log:
                    print(json.dumps(call), file=log)
                with open(sys.argv[2], encoding="utf-8") as file:
                    reply = answer(json.load(file), call)
                if reply is None:  # silence
                    continue
                self.request.sendall(json.dumps(reply).encode() + b"\0")


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


if __name__ == "__main__":
    if os.path.exists(sys.argv[1]):
        os.unlink(sys.argv[1])
    with Server(sys.argv[1], Client) as server:
        server.serve_forever()
