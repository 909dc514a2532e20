import { Webhooks, type WebhookUpdate } from "@accountlink/core/webhooks";
import { Effect, Option, Record } from "effect";
import { Command, Flag } from "effect/cli";
import { refuse, switchFlag } from "../../cli/flags.ts";
import { answerWithLocation, describe, managed, operatorOrigin } from "../command.ts";
import { descriptionFlag, failed, typesFlag, urlFlag, webhookArgument } from "./webhook_flags.ts";
import { webhookJson } from "./webhook_output.ts";

const flags = {
  id: webhookArgument,
  url: urlFlag.pipe(Flag.optional),
  types: typesFlag,
  allTypes: switchFlag("all-types", "Send all types of events"),
  description: descriptionFlag.pipe(Flag.optional),
  status: Flag.Literals("status", ["active", "paused"]).pipe(
    Flag.withDescription("Whether events are sent; a paused webhook keeps them"),
    Flag.optional,
  ),
};

type Choice = Command.Command.Config.Infer<typeof flags>;

const updateOf = ({ url, types, allTypes, description, status }: Choice): WebhookUpdate => ({
  ...Record.getSomes({ url, description }),
  ...(Option.isSome(status) ? { status: status.value } : {}),
  ...(types.length > 0 || allTypes ? { types } : {}),
});

const checkUpdate = (choice: Choice) => {
  if (choice.types.length > 0 && choice.allTypes) return refuse("--all-types takes no --type beside it");
  return Object.keys(updateOf(choice)).length === 0
    ? refuse("webhooks update needs at least one flag that changes the webhook")
    : Effect.void;
};

export const updateWebhookCommand = managed("update", flags, function* (choice) {
  const { id } = choice;
  const webhooks = yield* Webhooks;
  const updated = webhooks.update(null, id, updateOf(choice), operatorOrigin());
  const webhook = yield* Effect.catchTag(updated, ["BadRequest", "InvalidParameter"], failed(`update ${id}`));
  yield* answerWithLocation(webhookJson(webhook), `Updated ${id}`);
}).pipe(
  Command.validate(checkUpdate),
  describe(
    "Change a webhook. Types that are given replace all of its types. A running server applies it within a second; a disabled webhook gets events again once it is made active.",
    {
      "accountlink webhooks update wh_Aa0Bb1Cc2Dd3Ee4Ff5Gg --status paused":
        "Keep its events until it is active again",
    },
  ),
);
