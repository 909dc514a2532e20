"""Runs the cases of clients/cases.json by the clients in Python. Reads and writes JSON, a list with one entry a case."""

import asyncio
import json
import re
import sys
import threading
import time

from accountlink import AccountLink, AccountLinkError, AsyncAccountLink

KEY = f"alk_{'k' * 12}_{'s' * 43}"


def snake(name):
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def arguments(case):
    return {snake(name): value for name, value in case["input"].items()}


def options(case):
    return {snake(name): value for name, value in case.get("options", {}).items()}


def method_of(client, case):
    group, name = case["call"].split(".")
    return getattr(getattr(client, group), snake(name))


def said(error):
    names = ("code", "message", "status", "details", "request_id", "retry_after")
    return dict(zip(("code", "message", "status", "details", "requestId", "retryAfter"), (getattr(error, n) for n in names)))


def run(case, results, index):
    begun = time.monotonic()
    try:
        value = method_of(AccountLink(case["url"], KEY, **options(case)), case)(**arguments(case))
        results[index] = {"says": {"value": value}}
    except AccountLinkError as error:
        results[index] = {"says": said(error)}
    results[index]["seconds"] = time.monotonic() - begun


async def run_async(case, results, index):
    begun = time.monotonic()
    async with AsyncAccountLink(case["url"], KEY, **options(case)) as client:
        try:
            results[index] = {"says": {"value": await method_of(client, case)(**arguments(case))}}
        except AccountLinkError as error:
            results[index] = {"says": said(error)}
    results[index]["seconds"] = time.monotonic() - begun


async def run_all_async(cases, results):
    await asyncio.gather(*(run_async(case, results, index) for index, case in enumerate(cases)))


cases = json.load(sys.stdin)
results = [None] * len(cases)
if sys.argv[1] == "asynchronous":
    asyncio.run(run_all_async(cases, results))
else:
    threads = [threading.Thread(target=run, args=(case, results, index)) for index, case in enumerate(cases)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
json.dump(results, sys.stdout)
