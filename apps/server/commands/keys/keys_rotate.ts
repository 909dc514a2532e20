import { ApiKeys } from "@accountlink/core";
import { maskedKey } from "@accountlink/core/keys";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Clock, Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { durationFlag, keyArgument } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerSecret, managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";
import { findKey } from "./find_key.ts";

const longestGrace = 604_800_000;

const flags = {
  id: keyArgument,
  grace: durationFlag("grace").pipe(
    Flag.filter(
      (millis) => millis <= longestGrace,
      () => "expected 7 days or less",
    ),
    Flag.withDescription(
      "How long the previous secret is still accepted, up to 7 days; 0 seconds ends it at once",
    ),
    Flag.withDefault(600_000),
  ),
};

export const rotateKeyCommand = Command.make("rotate", flags, ({ id, grace }) =>
  Effect.gen(function* () {
    yield* findKey(id, "rotate");
    const graceSeconds = Math.ceil(grace / 1000);
    const previousUntil = formatTimestamp((yield* Clock.currentTimeMillis) + graceSeconds * 1000);
    const rotated = yield* (yield* ApiKeys).rotate(id, graceSeconds, operatorOrigin());
    if (Option.isNone(rotated)) {
      return yield* new CommandFailed({ problem: `Cannot rotate ${maskedKey(id)}: it is revoked` });
    }
    yield* answerSecret(
      { id, key: rotated.value, previousUntil },
      rotated.value,
      (location) =>
        `This is the key with its new secret, shown this once, in ${location}. The previous secret is accepted until ${previousUntil}.`,
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription("Give a key a new secret. Its id, scope and limits stay."),
  Command.withExamples([
    {
      command: 'accountlink keys rotate Aa0Bb1Cc2Dd3 --grace "1 hour"',
      description: "Leave an hour to deploy the new secret",
    },
  ]),
);
