/**
 * The doctor looks at the configuration.
 */
import { readFile } from "node:fs/promises";
import { decodeFixture } from "@accountlink/core";
import { Effect, Option } from "effect";
import { type Config, readConfig, type VariableName, variables, withoutEffect } from "../config.ts";
import { planOf } from "../plan.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { reasonOf } from "./report.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Looks at every variable on its own, so that one wrong value hides no other. */
export const checkConfiguration = Effect.fnUntraced(function* (environment: Environment) {
  const names = Object.keys(variables) as ReadonlyArray<VariableName>;
  const wrong = yield* Effect.all(names.map((name) => checkVariable(name, environment)));
  const findings = [
    ...wrong.flatMap(Option.toArray),
    ...unknownVariables(environment),
    ...unusedVariables(environment),
  ];
  const config = yield* Effect.option(readConfig(environment));
  if (Option.isSome(config)) {
    const set = names.filter((name) => (environment[name] ?? "").trim() !== "").length;
    findings.push(ok("configuration", `${names.length} variables, ${set} of them set`));
    findings.push(...(yield* checkPlan(config.value)), ...(yield* checkFixture(config.value)));
  }
  return { findings, config: Option.getOrNull(config) };
});

const checkVariable = (name: VariableName, environment: Environment) =>
  readConfig({ [name]: environment[name] }).pipe(
    Effect.as(Option.none<Finding>()),
    Effect.catch(({ problem }) =>
      Effect.succeed(Option.some(fail("configuration", problem, `Correct ${name}`))),
    ),
  );

const unknownVariables = (environment: Environment): ReadonlyArray<Finding> =>
  Object.keys(environment)
    .filter((name) => name.startsWith("ACCOUNTLINK_") && !(name in variables))
    .map((name) =>
      warn(
        "configuration",
        `${name} is set, and no variable of this release`,
        "Correct its name or remove it",
      ),
    );

const unusedVariables = (environment: Environment): ReadonlyArray<Finding> =>
  withoutEffect(environment).map((name) =>
    warn(
      "configuration",
      `${name} is set, and has no effect yet`,
      "Remove it until a release says otherwise",
    ),
  );

const checkPlan = (config: Config): Effect.Effect<ReadonlyArray<Finding>> =>
  planOf(config).pipe(
    Effect.map(({ demo }) => {
      if (demo) return [ok("platform", "dev, for the demo")];
      const beyond = !/^(localhost|127\.|::1$)/.test(config.ACCOUNTLINK_HOST);
      return beyond
        ? [
            warn(
              "platform",
              `dev, and ACCOUNTLINK_HOST is "${config.ACCOUNTLINK_HOST}"`,
              "Let nobody reach it who is not to be trusted: on the dev platform anyone can be anybody",
            ),
          ]
        : [ok("platform", "dev, played by the server itself")];
    }),
    Effect.catch(({ problem }) =>
      Effect.succeed([fail("platform", problem, "Set ACCOUNTLINK_PLATFORM or ACCOUNTLINK_FIXTURE")]),
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
