import { ApiKeys } from "@accountlink/core";
import { type ApiKey, maskedKey } from "@accountlink/core/keys";
import { Effect, Option } from "effect";
import { Command } from "effect/cli";
import { keyArgument } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";
import { type Doing, findKey } from "./find_key.ts";

const statusCommand = (doing: Doing, status: ApiKey["status"], description: string) =>
  Command.make(doing, { id: keyArgument }, ({ id }) =>
    Effect.gen(function* () {
      yield* findKey(id, doing);
      const updated = yield* Effect.catchTag(
        (yield* ApiKeys).update(id, { status }, operatorOrigin()),
        "Conflict",
        () =>
          status === "revoked"
            ? Effect.succeedNone
            : new CommandFailed({ problem: `Cannot ${doing} ${maskedKey(id)}: it is revoked` }),
      );
      const changed = Option.contains(updated, true);
      const text = changed ? `${maskedKey(id)} is ${status} now` : `${maskedKey(id)} was ${status} before`;
      yield* answerWithLocation({ id, status, changed }, (location) => `${text} in ${location}`);
    }).pipe(Effect.provide(managementLayer("refuse"))),
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: `accountlink keys ${doing} Aa0Bb1Cc2Dd3`, description: "By the id of the key" },
    ]),
  );

export const disableKeyCommand = statusCommand(
  "disable",
  "disabled",
  "Disable a key until it is enabled. A running server refuses it within a second.",
);

export const enableKeyCommand = statusCommand("enable", "active", "Enable a key that was disabled.");

export const revokeKeyCommand = statusCommand(
  "revoke",
  "revoked",
  "Revoke a key for good. A running server refuses it within a second.",
);
