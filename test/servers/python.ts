import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { once, type ServerProgram, serverFinder, unpacked } from "./debian_program.ts";
import { skipReason } from "./skip_reason.ts";

const run = promisify(execFile);

const runs = ({ file, env }: ServerProgram, code: string): Promise<boolean> =>
  run(file, ["-c", code], { env: { ...process.env, ...env } }).then(
    () => true,
    () => false,
  );

/** Python, and libraries that a minimal Debian 12 lacks. */
const python = {
  path: "usr/bin/python3.11",
  packages: "python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1 libffi8 libssl3".split(
    " ",
  ),
};

const findPython = async (): Promise<ServerProgram | null> => {
  const found = await serverFinder({ names: ["python3"], ...python })();
  const isRecent = found !== null && (await runs(found, "import sys; sys.exit(sys.version_info < (3, 10))"));
  return isRecent ? found : unpacked(python);
};

/** Debian packages of discord.py, aiohttp and their dependencies. */
const modules =
  "discord aiohttp aiosignal async-timeout attr charset-normalizer frozenlist idna multidict typing-extensions yarl"
    .split(" ")
    .map((name) => `python3-${name}`);
/**
 * Also imports aiohttp's compiled parser. Without it, aiohttp uses a parser written in Python. In Debian's version of
 * aiohttp, the Python parser refuses valid answers.
 */
const importAll = "import aiohttp._http_parser, discord";

/** Finds an installed Python with aiohttp and discord.py, or else unpacks Debian packages of the missing ones. */
const findWithModules = async (): Promise<ServerProgram | null> => {
  const found = await program();
  if (found === null || (await runs(found, importAll))) return found;
  const folder = "usr/lib/python3/dist-packages";
  const module = await unpacked({ path: `${folder}/discord/__init__.py`, packages: modules });
  if (module === null) return null;
  for (const each of [found, await unpacked(python)]) {
    const withThem = each && { ...each, env: { ...each.env, PYTHONPATH: dirname(dirname(module.file)) } };
    if (withThem !== null && (await runs(withThem, importAll))) return withThem;
  }
  return null;
};

const program = once(findPython);
const withModules = once(findWithModules);

/**
 * Returns null if Python 3.10 or newer is available, else the reason, for titles of skipped tests. With CI=true, throws
 * instead.
 */
export const whyNoPython = async (): Promise<string | null> =>
  (await program()) === null
    ? skipReason("Python", "there is no Python 3.10 on PATH, and no Debian package of it to unpack")
    : null;

/**
 * Returns null if aiohttp and discord.py are available, else the reason, for titles of skipped tests. With CI=true,
 * throws instead.
 */
export const whyNoAiohttp = async (): Promise<string | null> =>
  (await withModules()) === null
    ? skipReason(
        "aiohttp",
        "Python has no aiohttp and discord.py, and there are no Debian packages to unpack",
      )
    : null;

/** Returns a Python with aiohttp and discord.py if there is one, otherwise a Python without them. */
export const pythonProgram = async (): Promise<ServerProgram> => {
  const found = (await withModules()) ?? (await program());
  if (found === null) throw new Error("Cannot run Python: none was found, expected whyNoPython to say so");
  return found;
};
