/**
 * The doctor looks at the configuration.
 */
import { readFile } from "node:fs/promises";
import { decodeFixture } from "@accountlink/core";
import { Effect, Option } from "effect";
import { type Config, readConfig, type VariableName, variables } from "../config.ts";
import { configWarnings, unknownVariables, withoutEffect } from "../config_warnings.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { reasonOf } from "./report.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Looks at every variable on its own, so that one wrong value hides no other. */
export const checkConfiguration = Effect.fnUntraced(function* (environment: Environment) {
  const names = Object.keys(variables) as ReadonlyArray<VariableName>;
  const wrong = yield* Effect.all(names.map((name) => checkVariable(name, environment)));
  const config = Option.getOrNull(yield* Effect.option(readConfig(environment)));
  const warnings =
    config === null
      ? [...unknownVariables(environment), ...withoutEffect(environment)]
      : configWarnings(environment, config);
  const findings = [
    ...wrong.flatMap(Option.toArray),
    ...warnings.map(({ problem, advice }) => warn("configuration", problem, advice)),
  ];
  if (config !== null) {
    const set = names.filter((name) => (environment[name] ?? "").trim() !== "").length;
    findings.push(ok("configuration", `${names.length} variables, ${set} of them set`));
    findings.push(...(yield* checkFixture(config)));
  }
  return { findings, config };
});

const checkVariable = (name: VariableName, environment: Environment) =>
  readConfig({ [name]: environment[name] }).pipe(
    Effect.as(Option.none<Finding>()),
    Effect.catch(({ problem }) =>
      Effect.succeed(Option.some(fail("configuration", problem, `Correct ${name}`))),
    ),
  );

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
