/**
 * The fixture that a server starts with.
 */
import { readFile } from "node:fs/promises";
import { decodeFixture, FixtureLoader } from "@accountlink/core";
import { type PlatformFixture, summaryOfProblems } from "@accountlink/core/fixture";
import { Effect } from "effect";
import { InvalidConfig } from "../config/config.ts";
import { prepareFolder } from "../config/data_folder.ts";
import type { Platform, ResolvedConfig } from "../config/resolved_config.ts";
import { demoFile, demoFixture } from "./demo.ts";

/** A fixture whose form is right. */
export interface StartupFixture {
  readonly text: string;
  readonly platform: PlatformFixture;
  readonly vpnCidrs: ReadonlyArray<string>;
  /** The refusal that names the file. */
  readonly refused: (problems: ReadonlyArray<string>) => InvalidConfig;
}

/**
 * Reads the fixture: the demo's, which is made the first time, the one that is configured, or an
 * empty one.
 */
export const readStartupFixture = Effect.fnUntraced(function* ({ config, demo, storage }: ResolvedConfig) {
  if (demo && storage.kind === "embedded") {
    yield* prepareFolder(config, storage.folder);
    const text = yield* demoFixture(storage.folder);
    return yield* decode(text, `the demo's file is "${demoFile(storage.folder)}"`);
  }
  const file = config.ACCOUNTLINK_FIXTURE;
  if (file === null) return yield* decode("{}", "there is none");
  const text = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: () =>
      new InvalidConfig({ problem: `ACCOUNTLINK_FIXTURE is "${file}", expected a file that can be read` }),
  });
  return yield* decode(text, `ACCOUNTLINK_FIXTURE is "${file}"`);
});

const decode = (text: string, which: string): Effect.Effect<StartupFixture, InvalidConfig> => {
  const refused = (problems: ReadonlyArray<string>) =>
    new InvalidConfig({ problem: `${which}, expected a fixture: ${summaryOfProblems(problems)}` });
  return decodeFixture(text).pipe(
    Effect.map(({ platform, vpnCidrs }) => ({ text, platform, vpnCidrs, refused })),
    Effect.mapError(({ problems }) => refused(problems)),
  );
};

/** Warns of likely mistakes with live platforms. */
export const warnOfLive = Effect.fnUntraced(function* (platform: Platform, fixture: StartupFixture) {
  if (platform.kind !== "live") return;
  if (Object.values(fixture.platform).some((entries) => entries.length > 0)) {
    yield* Effect.logWarning(
      'Ignored "platform" in ACCOUNTLINK_FIXTURE: ACCOUNTLINK_PLATFORM is live, expected dev to play it',
    );
  }
});

/** Loads the fixture into the stores. */
export const loadStartupFixture = Effect.fnUntraced(function* ({ text, refused }: StartupFixture) {
  yield* (yield* FixtureLoader).load(text).pipe(
    Effect.catchTags({
      InvalidFixture: ({ problems }) => refused(problems),
      InvalidParameter: ({ parameters }) =>
        refused(parameters.map(({ name, reason }) => `${name}: ${reason}`)),
    }),
  );
});
