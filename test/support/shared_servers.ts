/** Starts Postgres and Redis before the first test of a vitest project, and stops them after its last test. */
import { redisUrl, startPostgres, whyNoPostgresDatabase, whyNoRedisUrl } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    readonly shared: { readonly databaseUrl: string; readonly redisUrl: string };
  }
}

const start = Effect.gen(function* () {
  const given = process.env["ACCOUNTLINK_TEST_DATABASE_URL"] ?? "";
  return {
    databaseUrl: given === "" ? (yield* startPostgres()).urlOf("postgres") : given,
    redisUrl: yield* redisUrl,
  };
});

/**
 * Starts the servers, and returns a function that stops them. If a server is unavailable, skips every test of the
 * project and prints the reason.
 */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());
  if (missing !== null) {
    console.warn(`Every test of ${project.name} is skipped ${missing}`);
    // This pattern matches no test title, so every test is skipped.
    project.config.testNamePattern = /(?!)/;
    return undefined;
  }
  const scope = Scope.makeUnsafe();
  project.provide("shared", await Effect.runPromise(Scope.provide(start, scope)));
  return () => Effect.runPromise(Scope.close(scope, Exit.void));
};
