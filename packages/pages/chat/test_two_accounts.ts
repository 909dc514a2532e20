/** For tests: a service with two accounts, and the time that its nodes spend. */
import { setTimeout } from "node:timers/promises";
import { HttpSettings } from "@accountlink/http";
import { testWith } from "@accountlink/test-servers/effect";
import { aFixture, MemoryWorld } from "@accountlink/testing";
import { type Duration, Effect, Layer } from "effect";
import { TestClock } from "effect/testing";

type Platform = Exclude<NonNullable<Parameters<typeof aFixture>[0]>["platform"], undefined>;

/** Makes a test function with the accounts `acme` and `club` on a platform. */
export const testWithTwoAccounts = (
  [acme, club]: readonly [acme: string, club: string],
  platform: Platform,
) =>
  testWith(
    Layer.provideMerge(
      Layer.succeed(HttpSettings, { publicUrl: MemoryWorld.publicUrl } as HttpSettings["Service"]),
      MemoryWorld.layer(
        aFixture({
          accounts: [
            { name: "acme", chatId: acme },
            { name: "club", chatId: club },
          ],
          platform,
        }),
      ),
    ),
  );

/** Lets looks of a node pass, and Web Crypto finish, which the test clock does not control. */
export const passLooks = (count: number, every: Duration.Input) =>
  Effect.repeat(
    Effect.andThen(
      TestClock.adjust(every),
      Effect.promise(() => setTimeout(1)),
    ),
    { times: count - 1 },
  );
