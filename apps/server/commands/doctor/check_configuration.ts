/** Checks of the variables and of the files that they name. */
import { readFile } from "node:fs/promises";
import { decodeFixture } from "@accountlink/core";
import { Effect } from "effect";
import { type Config, parseConfig, variables } from "../../config/config.ts";
import { configWarnings, unknownVariables, withoutEffect } from "../../config/config_warnings.ts";
import { networkFiles } from "../../layers/networks_layer.ts";
import { reasonOf } from "../../message_text.ts";
import { fail, ok, warn } from "./finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export const checkConfiguration = Effect.fnUntraced(function* (environment: Environment) {
  const { config, problems } = parseConfig(environment);
  const warnings =
    config === null
      ? [...unknownVariables(environment), ...withoutEffect(environment)]
      : configWarnings(environment, config);
  const findings = [
    ...problems.map(({ name, problem }) => fail("configuration", problem, `Correct ${name}`)),
    ...warnings.map(({ problem, advice }) => warn("configuration", problem, advice)),
  ];
  if (config !== null) {
    const names = Object.keys(variables);
    const set = names.filter((name) => (environment[name] ?? "").trim() !== "").length;
    findings.push(ok("configuration", `${names.length} variables, ${set} of them set`));
    findings.push(...(yield* checkFixture(config)), ...(yield* checkNetworkFiles(config)));
  }
  return { findings, config };
});

const checkFixture = Effect.fnUntraced(function* ({ ACCOUNTLINK_FIXTURE: file }: Config) {
  if (file === null) return [];
  return yield* Effect.tryPromise(() => readFile(file, "utf8")).pipe(
    Effect.flatMap(decodeFixture),
    Effect.as([ok("fixture", `"${file}" can be loaded`)]),
    Effect.catch((error) =>
      Effect.succeed([
        fail("fixture", `"${file}": ${reasonOf(error)}`, "Correct the file or ACCOUNTLINK_FIXTURE"),
      ]),
    ),
  );
});

const checkNetworkFiles = (config: Config) =>
  Effect.forEach(networkFiles, ([name, read]) => {
    const file = config[name];
    if (file === null) return Effect.succeed([]);
    return read(file).pipe(
      Effect.map((content) => [ok("networks", `"${file}" has ${content}`)]),
      Effect.catch(({ message }) =>
        Effect.succeed([fail("networks", message, `Correct the file or ${name}`)]),
      ),
    );
  }).pipe(Effect.map((findings) => findings.flat()));
