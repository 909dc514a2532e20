import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { GameId } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import { SessionsV2 } from "@accountlink/http-api";
import { Effect, Layer, Option, Result } from "effect";
import { Flag } from "effect/cli";
import { fieldFlag } from "../../cli/field_flags.ts";
import { Invocation } from "../../cli/invocation.ts";
import { answer } from "../../cli/output.ts";
import { AlreadyReported } from "../../cli/report.ts";
import { type Config, parseConfig, variables } from "../../config/config.ts";
import { configWarnings, unknownVariables, withoutEffect } from "../../config/config_warnings.ts";
import { type Cache, type ResolvedConfig, resolveConfig } from "../../config/resolved_config.ts";
import { readStartupFixture } from "../../fixture/startup_fixture.ts";
import { redis, refusedDatabase } from "../../layers/store_layers.ts";
import { networksLayer } from "../../networks/network_files.ts";
import { describe, single } from "../command.ts";
import { checkClock } from "./check_clock.ts";
import { checkPlatform } from "./check_platform.ts";
import { checkBackupFolder, equalPorts, isHeld } from "./check_start.ts";
import { checkStorage } from "./check_storage.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { redisAdvice } from "./redis_advice.ts";

const gameIdFlag = fieldFlag("game-id", SessionsV2.createSession.parameters.gameId).pipe(
  Flag.withMetavar("id"),
  Flag.withDescription("A player of your own game, whose fields are looked at"),
  Flag.optional,
);

export const doctorCommand = single("doctor", { gameId: gameIdFlag }, function* ({ gameId }) {
  const found = yield* examine(Option.getOrNull(gameId));
  const failed = found.filter(({ status }) => status === "fail").length;
  const findings = failed === 0 ? found : found.filter(({ isPromise }) => isPromise !== true);
  yield* answer({ findings, failed }, findings.map(formatFinding).join("\n"));
  if (failed > 0) return yield* new AlreadyReported();
}).pipe(
  describe([
    "Check everything that the server needs: every variable and the files that they name, the data " +
      "folder and its mode, the secret, the platforms, the database, Redis, their clocks, the disk " +
      "space, the temporary folder, and the server itself, if one runs. Nothing is changed, but a " +
      "key in Redis that expires after a second.",
    "The exit code is 1 if a check fails.",
  ]),
);

const examine = Effect.fnUntraced(function* (gameId: GameId | null) {
  const { environment } = yield* Invocation;
  const { config, problems } = parseConfig(environment);
  const warnings =
    config === null
      ? [...unknownVariables(environment), ...withoutEffect(environment)]
      : configWarnings(environment, config);
  const findings = [
    ...problems.map(({ name, problem }) => fail("configuration", problem, adviceFor(name))),
    ...warnings.map(({ problem, advice }) => warn("configuration", problem, advice)),
  ];
  if (config === null) return findings;
  const resolved = yield* Effect.result(resolveConfig(config));
  if (Result.isFailure(resolved)) {
    const { problem, others = [] } = resolved.failure;
    const absent = [problem, ...others].map((each) => fail("configuration", each, "Set what is missing"));
    return [...findings, ...absent];
  }
  const { storage, cache } = resolved.success;
  const stored = yield* checkStorage(config, storage);
  const { deployment = null } = stored.find((finding) => "deployment" in finding) ?? {};
  return [
    ...findings,
    ok("configuration", `${Object.keys(variables).length} variables`),
    ...equalPorts(config),
    ...(yield* checkFiles(resolved.success)),
    ...(yield* checkBackupFolder(config)),
    ...(yield* checkPlatform(resolved.success, gameId)),
    ...stored,
    ...deploymentFinding(config, deployment),
    ...(yield* checkCache(cache)),
    ...(yield* checkServer(config, "ACCOUNTLINK_PORT", deployment)),
    ...(yield* checkServer(config, "ACCOUNTLINK_OPERATOR_PORT", deployment)),
  ];
});

const adviceFor = (name: string): string =>
  name === "ACCOUNTLINK_PUBLIC_URL"
    ? "Give the service a host of its own, and correct ACCOUNTLINK_PUBLIC_URL: no proxy can serve it below a path"
    : `Correct ${name}`;

/** Checks the configured files, but not the demo's fixture, since reading it would create it. */
const checkFiles = (resolved: ResolvedConfig) =>
  Effect.andThen(
    resolved.demo ? Effect.void : readStartupFixture(resolved),
    Layer.build(networksLayer(resolved.config, [])),
  ).pipe(
    Effect.as([]),
    Effect.catch(({ message }) => Effect.succeed([fail("files", message, "Correct the file")])),
    Effect.scoped,
  );

const checkCache = Effect.fnUntraced(function* (cache: Cache) {
  if (cache.kind === "memory") return [ok("cache", "memory: each server counts limits for itself")];
  const { CacheRedis } = yield* redis;
  return yield* CacheRedis.inspect(cache).pipe(
    Effect.map(({ path, version, eviction, refusedWrite, clockLead }) => {
      const it = `Redis ${version} at "${path}"`;
      const forgets = `${it} may forget what limits count: its maxmemory-policy is ${eviction ?? "not told"}`;
      const answers =
        refusedWrite === null
          ? ok("cache", `${it} takes writes`)
          : warn(
              "cache",
              `${it} refuses writes: ${refusedWrite}`,
              `${redisAdvice(refusedWrite, "ACCOUNTLINK_REDIS_URL")}. ${untilThen}`,
            );
      return [
        answers,
        ...(eviction === "noeviction" ? [] : [warn("cache", forgets, "Set it to noeviction")]),
        ...checkClock("Redis", clockLead),
      ];
    }),
    Effect.catch((error) => {
      if (error._tag === "RedisDatabaseRefused") {
        return Effect.succeed([
          fail(
            "cache",
            refusedDatabase(error.database, "ACCOUNTLINK_REDIS_URL"),
            "Correct ACCOUNTLINK_REDIS_URL",
          ),
        ]);
      }
      const advice = redisAdvice(error._tag === "RedisUnusable" ? error.reason : "", "ACCOUNTLINK_REDIS_URL");
      return Effect.succeed([warn("cache", error.message, `${advice}. ${untilThen}`)]);
    }),
  );
});

/** A start refuses the storage of another deployment, also an empty one. */
const deploymentFinding = (
  { ACCOUNTLINK_DEPLOYMENT: expected }: Config,
  found: string | null,
): ReadonlyArray<Finding> => {
  if (expected === null || expected === found) return [];
  const is = found === null ? "the storage is empty" : `the storage is of deployment "${found}"`;
  return [
    fail(
      "deployment",
      `ACCOUNTLINK_DEPLOYMENT is "${expected}", but ${is}`,
      "Name the storage of that deployment, or correct ACCOUNTLINK_DEPLOYMENT",
    ),
  ];
};

const untilThen = "Until then each server counts limits for itself";

const checkServer = (
  config: Config,
  variable: "ACCOUNTLINK_PORT" | "ACCOUNTLINK_OPERATOR_PORT",
  deployment: string | null,
) => {
  const { ACCOUNTLINK_HOST: host, [variable]: port } = config;
  if (port === 0 || port === null) return Effect.succeed([]);
  const url = `http://${reachable(host)}:${port}/readyz`;
  return answerAt(url).pipe(
    Effect.map(({ status, body }) => {
      const found = /"deployment":"([^"]*)"/.exec(body)?.[1];
      if (found === undefined || found !== (deployment ?? found)) {
        const other = `another program or deployment answers at ${url}`;
        return fail("server", other, `Stop it, or set another ${variable}`);
      }
      return status === 200
        ? ok("server", `${url} is ready`)
        : fail("server", `${url} answers ${status}`, "See its log");
    }),
    Effect.catch((reason) =>
      Effect.map(isHeld(reachable(host), port), (held) =>
        held
          ? fail(
              "server",
              `a program holds ${url} and does not answer`,
              `Stop it, or set another ${variable}`,
            )
          : ok("server", `none answers at ${url}: ${reason}`),
      ),
    ),
    Effect.map((finding) => [finding]),
  );
};

/** Does not use `fetch`, which refuses to connect to some ports. */
const answerAt = (url: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      const request = get(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(3_000)]) });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return { status: response.statusCode, body: await text(response) };
    },
    catch: reasonOf,
  });

/** A server on a wildcard address is reached through the loopback address. */
const reachable = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;

const formatFinding = ({ status, check, finding, advice }: Finding): string => {
  const line = `${status.padEnd(4)}  ${check.padEnd(13)}  ${finding}`;
  return advice === null ? line : `${line}\n${" ".repeat(21)}${advice}`;
};
