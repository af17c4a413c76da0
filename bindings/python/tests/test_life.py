"""A program that does not use the low layer cannot end its process, whatever it does.

Each script runs in a process of its own. It must end with status 0 and say "end", or with the status that is named.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LIMIT, TESTS, Server, run_script

import sdd

BEGIN = """
import asyncio, gc, multiprocessing, os, sys, threading, time, weakref
import sdd
file, held = sys.argv[1:]  # a picture, and the beginning of URLs that are never answered
"""


def check(server: Server, script: str, name: str, status: int = 0) -> str:
    """Runs a script, and returns what it has printed."""
    done = run_script(BEGIN + script, server.url("file/a.jpg"), server.url(f"late/{name}"))
    assert done.returncode == status, done.stderr
    assert "Fatal Python error" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done.stdout + done.stderr


SCRIPTS = {
    "a view outlives its image, loader and cache": """
with sdd.Loader() as loader:
    image = loader.load_sync(file)
view, array = image.memoryview(), image.to_numpy()
image.close()
del image, loader
gc.collect()
assert bytes(view) == array.tobytes()
""",
    "a released image refuses in every thread": """
image = sdd.load_sync(file)
def use():
    try:
        while True:
            image.encode(sdd.ImageFormat.PNG)
            bytes(image.memoryview())
    except ValueError:
        pass
threads = [threading.Thread(target=use) for _ in range(4)]
for thread in threads:
    thread.start()
image.close()
for thread in threads:
    thread.join()
""",
    "closed objects refuse": """
cache, downloader, loader = sdd.Cache(name="x"), sdd.Downloader(), sdd.Loader()
own = sdd.Loader(downloader=downloader, cache=cache)
batch = loader.load_many([held + "/a.jpg"])
for thing in (cache, downloader, loader, batch):
    thing.close()
    thing.close()
    assert thing.closed
def refuses(call):
    try:
        call()
    except sdd.ClosedError as error:
        assert str(error).startswith("The ") and str(error).endswith(" is closed."), error
        return
    raise AssertionError(call)
image = sdd.Image.from_pixels(bytes(4), 1, 1)
for call in (cache.get_sync, cache.get_bytes_sync, cache.contains_sync, cache.remove_sync, cache.key, cache.path):
    refuses(lambda: call("key"))
for call in (cache.clear_sync, cache.flush_sync, cache.entries_sync, cache.statistics_sync, cache.trim_memory):
    refuses(call)
refuses(lambda: cache.put_sync("key", image))
refuses(lambda: sdd.Loader(cache=cache))
for call in (batch.hosts, batch.statistics, batch.cancel, batch.wait):
    refuses(call)
with sdd.Downloader() as living:
    alone = sdd.Loader(downloader=living, no_cache=True)
    alone.close()
    refuses(lambda: alone.is_blocked(file))
    refuses(lambda: alone.running_count)
    refuses(lambda: alone.load_sync(file))
own.close()
own.close()
assert own.closed
refuses(lambda: loader.load_sync(file))
refuses(lambda: asyncio.run(loader.load(file)))
refuses(lambda: own.load_sync(file))
refuses(lambda: loader.load_many([file]))
refuses(lambda: list(loader.previews(file)))
refuses(lambda: loader.prefetch_sync([file]))
refuses(lambda: downloader.fetch_sync(file))
refuses(lambda: downloader.set_header("a", "b"))
refuses(lambda: downloader.statistics())
refuses(lambda: cache.get_sync("x"))
refuses(lambda: cache.flush_sync())
refuses(lambda: list(batch))
refuses(lambda: sdd.Loader(cache=cache))
refuses(lambda: sdd.Loader(downloader=downloader))
refuses(lambda: sdd.Downloader(http_cache_in=cache))
""",
    "objects with requests under way are collected": """
async def main():
    for turn in range(20):
        downloader = sdd.Downloader()
        loader = sdd.Loader(downloader=downloader)
        tasks = [asyncio.ensure_future(loader.load(f"{held}-{turn}/{n}")) for n in range(5)]
        await asyncio.sleep(0)
        gone = weakref.ref(loader._pump)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # asyncio lets go of the exceptions, which hold frames
        batch = downloader.fetch_many([f"{held}-{turn}/x{n}" for n in range(5)])
        del tasks, task, loader, downloader, batch
        gc.collect()
        assert gone() is None
def count():
    return len(os.listdir("/proc/self/fd")) + len(os.listdir("/proc/self/task"))
def run():
    asyncio.run(main())
    gc.collect()
run()
first = count()
run()
# 20 downloaders. A thread that has ended, and was waited for, is listed for a moment more.
deadline = time.monotonic() + 30
while count() >= first + 10:
    assert time.monotonic() < deadline, (first, count())
""",
    "a loop is closed with loads under way": """
loader = sdd.Loader()
for turn in range(5):
    loop = asyncio.new_event_loop()
    tasks = [loop.create_task(loader.load(f"{held}-{turn}/{n}")) for n in range(5)]
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    for task in tasks:
        task._log_destroy_pending = False
    del tasks, task
    gc.collect()
assert asyncio.run(loader.load(file)).size == loader.load_sync(file).size
""",
    "the loader is closed in another thread": """
loader = sdd.Loader()
def load():
    try:
        loader.load_sync(held + "/a.jpg")
    except sdd.RequestCancelled:
        ended.append(1)
ended = []
threads = [threading.Thread(target=load) for _ in range(5)]
for thread in threads:
    thread.start()
while loader.running_count < 5:
    pass
loader.close()
for thread in threads:
    thread.join()
assert len(ended) == 5
""",
    "a batch is closed while a thread and a task wait for it": """
batch = sdd.load_many([held + "/a.jpg"])
def take():
    try:
        list(batch)
    except sdd.ClosedError:
        ended.append(1)
async def take_in_loop():
    try:
        async for item in batch:
            pass
    except sdd.ClosedError:
        ended.append(1)
async def main():
    task = asyncio.ensure_future(take_in_loop())
    other = asyncio.ensure_future(take_in_loop())
    await asyncio.sleep(0.1)
    batch.close()
    await task
    await other
ended = []
thread = threading.Thread(target=take)
thread.start()
asyncio.run(main())
thread.join()
assert len(ended) == 3
""",
    "an iterable of URLs that uses its own batch": """
def urls():
    yield file
    batch.close()
    yield file
def more():
    yield file
    raise KeyError("of the application")
batch = sdd.load_many(urls(), look_ahead=1)
try:
    list(batch)
except sdd.ClosedError:
    pass
batch = sdd.load_many(more())
taken = []
try:
    for item in batch:
        taken.append(item)
except KeyError:
    assert len(taken) == 1
else:
    raise AssertionError("no KeyError")
""",
    "an array goes while its batch is under way": """
import numpy
array = numpy.zeros((50, 64, 64, 3), numpy.uint8)
batch = sdd.batch([file] * 50, out=array)
del array
gc.collect()
next(iter(batch))
del batch
gc.collect()
""",
    "the interpreter ends with loads of a loop under way": """
async def main():
    tasks = [asyncio.ensure_future(sdd.load(f"{held}/{n}")) for n in range(20)]
    await asyncio.sleep(0.1)
asyncio.run(main())
""",
    "the interpreter ends without cancelling": """
loop = asyncio.new_event_loop()
tasks = [loop.create_task(sdd.load(f"{held}/{n}")) for n in range(20)]
loop.run_until_complete(asyncio.sleep(0.1))
for task in tasks:
    task._log_destroy_pending = False
""",
    "the interpreter ends with threads that wait": """
import numpy
loader = sdd.Loader()
array = numpy.zeros((9, 64, 64, 3), numpy.uint8)
batch = sdd.batch([held + "/x.jpg"] * 9, out=array)
def run(work):  # quietly: CPython aborts if a daemon thread is printing a traceback while the interpreter ends
    try:
        work()
    except Exception:
        pass
for work in (lambda: loader.load_sync(held + "/a"), lambda: list(batch), lambda: list(loader.previews(held + "/b"))):
    threading.Thread(target=run, args=(work,), daemon=True).start()
while loader.running_count < 2:
    pass
""",
    "the interpreter ends with objects in a cycle": """
class Holder: pass
holder = Holder()
holder.me, holder.loader, holder.cache, holder.image = holder, sdd.Loader(), sdd.Cache(name="y"), sdd.load_sync(file)
holder.view, holder.batch = holder.image.to_numpy(), holder.loader.load_many([held + "/a"])
holder.cache.put_sync("key", holder.image)
""",
    "the first use in several threads makes one loader": """
import sdd._defaults as defaults
def other():
    thread = threading.Thread(target=lambda: made.append(sdd.default_loader()))
    thread.start()
    thread.join()
def trace(frame, event, argument):
    if frame.f_code is defaults._Default.get.__code__ and event == "line":
        lines.append(frame.f_lineno)
        if len(lines) == paused:
            other()
    return trace
for paused in range(1, 5):  # another thread uses it before this one's line of that number
    defaults._default = defaults._Default()
    made, lines = [], []
    sys.settrace(trace)
    made.append(sdd.default_loader())
    sys.settrace(None)
    other()
    assert lines and len(set(map(id, made))) == 1, (paused, made)
""",
    "without descriptors calls are refused": """
import resource
loader = sdd.Loader(no_cache=True)
async def main():
    batch = loader.load_many([held + "/a.jpg"])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
    taken, refused = [], 0
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    for call in (lambda: loader.load(file), batch._all):
        try:
            await call()
        except sdd.ResourceError as error:
            assert error.status is sdd.Status.NO_RESOURCES and error.system_error == 24
        else:
            raise AssertionError("no error")
    while True:  # each descriptor of a downloader is the first that cannot be made
        try:
            sdd.Downloader().close()
            break
        except sdd.ResourceError:
            refused += 1
            gc.collect()
            os.close(taken.pop())
    assert refused > 3
    for descriptor in taken:
        os.close(descriptor)
    assert (await loader.load(file)).width == 320
asyncio.run(main())
""",
    "spawned processes load by themselves": """
if __name__ == "__main__":
    sdd.load_sync(file)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        sizes = pool.map(exec, ["import sdd; assert sdd.load_sync(%r).width == 320" % file] * 4)
""",
    "forked workers load by themselves": """
def work(n):
    image = sdd.load_sync(f"{file}?{n % 3}")
    rows = sdd.Image.decode(bytes(image.encode())).size
    return rows, asyncio.run(sdd.load(f"{file}?{n}")).width
sdd.load_sync(file)
loader = sdd.Loader(no_cache=True)
tasks = loader.load_many([f"{held}/{n}" for n in range(5)])  # under way while the workers are forked
for _ in range(3):
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert set(pool.map(work, range(30))) == {((320, 240), 320)}
assert sdd.load_sync(file).width == 320
""",
    "objects of the parent refuse after a fork": """
cache, downloader = sdd.Cache(name="z"), sdd.Downloader()
loader = sdd.Loader(downloader=downloader, cache=cache)
image = loader.load_sync(file)
batch = loader.load_many([file])
sdd.load_sync(file)
pid = os.fork()
if pid == 0:
    status = 1
    try:
        calls = (lambda: loader.load_sync(file), lambda: downloader.fetch_sync(file), lambda: cache.get_sync("a"),
                 lambda: list(batch), lambda: asyncio.run(loader.load(file)), lambda: list(loader.previews(file)),
                 loader.close, downloader.close, cache.close, batch.close, batch.cancel, batch.statistics,
                 lambda: downloader.set_header("a", "b"), lambda: loader.is_blocked(file),
                 lambda: loader.load_many([file]), downloader.statistics, lambda: loader.prefetch_sync([file]))
        for call in calls:
            try:
                call()
            except sdd.ForkedError as error:
                assert "before fork()" in str(error)
            else:
                raise AssertionError(call)
        assert image.to_numpy().shape == (240, 320, 4)
        image.close()
        del image, batch, loader, downloader, cache
        gc.collect()
        assert sdd.load_sync(file).width == 320
        with sdd.Loader() as own:
            assert asyncio.run(own.load(file)).width == 320
        status = 0
    except BaseException as error:
        print("child:", repr(error))
    sys.stdout.flush()
    os._exit(status) if len(sys.argv) > 9 else sys.exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert loader.load_sync(file).width == 320 and len(list(batch)) == 1
""",
    "blocks and texts of the parent in the child of a fork": """
async def leave(thing):
    async with thing:
        pass
things = [sdd.Loader(), sdd.Downloader(), sdd.Cache(name="w")]
things.append(things[0].load_many([]))
with sdd.Loader(no_cache=True) as loader:
    pid = os.fork()
    if pid == 0:
        asyncio.run(leave(loader))
        for thing in things:
            asyncio.run(leave(thing))
            with thing:
                assert repr(thing) == f"<sdd.{type(thing).__name__}, of the parent process>"
if pid == 0:
    print("end")
    sys.exit()
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert loader.closed and not any(thing.closed for thing in things)
things[0].load_sync(file)
""",
    "a fork while threads and a loop load": """
loader = sdd.Loader()
stop = threading.Event()
def work():
    n = 0
    while not stop.is_set():
        n += 1
        loader.load_sync(f"{file}?{n % 50}")
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
loader.load_sync(file)
for turn in range(10):
    pid = os.fork()
    if pid == 0:
        try:
            loader.load_sync(file)
        except sdd.ForkedError:
            os._exit(0 if sdd.Image.decode(open("/proc/self/exe", "rb").read(0) or PNG).width == 1 else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
stop.set()
for thread in threads:
    thread.join()
""",
}
SCRIPTS["a fork while threads and a loop load"] = (
    'PNG = bytes(sdd.Image.from_pixels(b"1234", 1, 1).encode(sdd.ImageFormat.PNG))\n'
    + SCRIPTS["a fork while threads and a loop load"]
)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(server: Server, name: str) -> None:
    output = check(server, SCRIPTS[name] + "\nprint('end')", name.replace(" ", "-"))
    assert "end" in output and "child:" not in output


def test_the_shared_cache_is_written_at_exit(server: Server, tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    for origin in ("NETWORK", "DISK"):
        script = f"import os; os.environ.update({environment!r})" + BEGIN + "print(sdd.fetch_sync(file).origin.name)"
        assert origin in check(server, script, "exit")


def test_ctrl_c_in_the_urls_of_a_batch(server: Server) -> None:
    script = """
def urls():
    yield held + "/a.jpg"
    raise KeyboardInterrupt
begin = time.monotonic()
try:
    list(sdd.load_many(urls()))
except KeyboardInterrupt:
    assert time.monotonic() - begin < 10  # it does not wait for the first URL's time limit, 15 seconds
    print("end")
"""
    assert "end" in check(server, script, "urls")


def test_ctrl_c_ends_a_wait(server: Server) -> None:
    # The tests may have been started with SIGINT ignored or blocked, as in the background of a shell.
    script = BEGIN + """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
sdd.load_sync(held + "/a.jpg")
"""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [sys.executable, "-c", script, "-", server.url("late/ctrl-c")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment,
    )  # fmt: skip
    server.wait_for("late/ctrl-c/a.jpg")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    assert "KeyboardInterrupt" in errors and process.returncode in (-signal.SIGINT, 130)


def test_no_object_can_be_pickled() -> None:
    import pickle

    with sdd.Cache(name="pickled") as cache, sdd.Loader(cache=cache) as loader:
        for thing in (cache, loader, loader.downloader):
            with pytest.raises(TypeError, match="each process"):
                pickle.dumps(thing)


def test_everything_at_random() -> None:
    seed = int.from_bytes(os.urandom(2), "little")  # the output names it
    command = [sys.executable, "-X", "faulthandler", str(TESTS / "stress.py"), "--seconds", "3", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
