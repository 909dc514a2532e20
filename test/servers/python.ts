import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { findServer, type ServerProgram, unpacked } from "./debian_program.ts";
import { skipReason } from "./skip_reason.ts";

const run = promisify(execFile);

const runs = ({ file, env }: ServerProgram, code: string): Promise<boolean> =>
  run(file, ["-c", code], { env: { ...process.env, ...env } }).then(
    () => true,
    () => false,
  );

/** The packages of Debian 12 that a minimal Debian lacks. */
const packages = [
  "python3.11-minimal",
  "libpython3.11-minimal",
  "libpython3.11-stdlib",
  "libexpat1",
  "libffi8",
  "libssl3",
];
const path = "usr/bin/python3.11";

const find = async (): Promise<ServerProgram | null> => {
  const found = await findServer({ names: ["python3"], path, packages });
  const isRecent = found !== null && (await runs(found, "import sys; sys.exit(sys.version_info < (3, 10))"));
  return isRecent ? found : unpacked({ path, packages });
};

/** Debian packages of discord.py, aiohttp and their dependencies. */
const modules = [
  "discord",
  "aiohttp",
  "aiosignal",
  "async-timeout",
  "attr",
  "charset-normalizer",
  "frozenlist",
  "idna",
  "multidict",
  "typing-extensions",
  "yarl",
].map((name) => `python3-${name}`);
const importAll = "import aiohttp, discord";

/** Finds aiohttp and discord.py for this Python: installed ones, or Debian's. */
const findWithModules = async (): Promise<ServerProgram | null> => {
  const found = await program;
  if (found === null || (await runs(found, importAll))) return found;
  const folder = "usr/lib/python3/dist-packages";
  const module = await unpacked({ path: `${folder}/discord/__init__.py`, packages: modules });
  if (module === null) return null;
  const withThem = { ...found, env: { ...found.env, PYTHONPATH: dirname(dirname(module.file)) } };
  return (await runs(withThem, importAll)) ? withThem : null;
};

const program = find();
const withModules = findWithModules();

/** Why Python 3.10 or newer is unavailable, or null; it is shown in titles of skipped tests. Throws with CI=true. */
export const whyNoPython = async (): Promise<string | null> =>
  (await program) === null
    ? skipReason("Python", "there is no Python 3.10 on PATH, and no Debian package of it to unpack")
    : null;

/** Why aiohttp or discord.py is unavailable, or null; it is shown in titles of skipped tests. Throws with CI=true. */
export const whyNoAiohttp = async (): Promise<string | null> =>
  (await withModules) === null
    ? skipReason(
        "aiohttp",
        "Python has no aiohttp and discord.py, and there are no Debian packages to unpack",
      )
    : null;

/** The Python of this machine or of Debian, with aiohttp and discord.py where they are to be had. */
export const pythonProgram = async (): Promise<ServerProgram> => {
  const found = (await withModules) ?? (await program);
  if (found === null) throw new Error("Cannot run Python: none was found, expected whyNoPython to say so");
  return found;
};
