import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DockerfileParser } from "dockerfile-ast";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));
export const deploy: string = join(root, "deploy");

export const dockerfile: string = await readFile(join(deploy, "Dockerfile"), "utf8");

export const image = DockerfileParser.parse(dockerfile);

/** The arguments of every instruction of this name, in their order. */
export const argumentsOf = (name: string): ReadonlyArray<string> =>
  image
    .getInstructions()
    .filter((instruction) => instruction.getKeyword() === name)
    .map((instruction) => instruction.getArgumentsContent() ?? "");

/** The words of an instruction in its exec form: the last of this name. */
export const execFormOf = (name: string): ReadonlyArray<string> =>
  JSON.parse(argumentsOf(name).at(-1) ?? "[]");
