import type { BadRequest, Conflict, InvalidParameter } from "@accountlink/core/errors";
import { isWebhookId, Webhooks, type WebhookUpdate } from "@accountlink/core/webhooks";
import { DashboardWebhooks } from "@accountlink/http-api";
import { Effect, Option, Record } from "effect";
import { Argument, Command, Flag } from "effect/cli";
import { entryFlag, fieldFlag } from "../../cli/field_flags.ts";
import {
  accountFlag,
  accountOf,
  checkScope,
  problemsText,
  refuse,
  scopeFlags,
  scopeText,
  switchFlag,
  targetOf,
} from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerSecret, answerWithLocation, describe, managed, operatorOrigin } from "../command.ts";
import { webhookJson } from "./webhook_output.ts";

export const webhookArgument = Argument.String("webhook").pipe(
  Argument.withDescription("Id of the webhook, as webhooks list shows it"),
  Argument.filter(isWebhookId, () => 'expected "wh_" and 20 letters or digits'),
);

const fields = DashboardWebhooks.patchWebhook.parameters;
const urlFlag = fieldFlag("url", fields.url);
const descriptionFlag = fieldFlag("description", fields.description);
const typesFlag = entryFlag("type", fields.types);

export const failed = (doing: string) => (error: BadRequest | Conflict | InvalidParameter) =>
  new CommandFailed({ problem: `Cannot ${doing}: ${reasonOf(error)}` });

const reasonOf = (error: BadRequest | Conflict | InvalidParameter): string => {
  if (error._tag === "InvalidParameter") return problemsText(error);
  return error._tag === "BadRequest"
    ? "there is no such webhook"
    : "too many tests of its account are in flight";
};

const createFlags = {
  account: accountFlag.pipe(
    Flag.withDescription("Account whose events are sent, created if it does not exist"),
  ),
  url: urlFlag,
  ...scopeFlags,
  types: typesFlag,
  description: descriptionFlag.pipe(Flag.withDefault("")),
};

type CreateChoice = Command.Command.Config.Infer<typeof createFlags>;

export const createWebhookCommand = managed("create", createFlags, function* (choice) {
  const { url, types, description } = choice;
  const webhooks = yield* Webhooks;
  const account = yield* accountOf(choice.account, "free");
  const { secret, webhook } = yield* webhooks
    .create({ account, target: targetOf(choice), url, types, description }, operatorOrigin())
    .pipe(
      Effect.catchTags({
        InvalidParameter: failed("create the webhook"),
        Conflict: () =>
          new CommandFailed({
            problem: "Cannot create the webhook: its scope has as many as it may",
          }),
      }),
    );
  yield* answerSecret(
    { ...webhookJson(webhook), secret },
    secret,
    `This is the secret of ${webhook.id}, shown this once: ${scopeText(webhook.scope)} scope of account "${webhook.scope.account}"`,
  );
}).pipe(
  Command.validate((choice: CreateChoice) => checkScope(choice)),
  describe("Create a webhook and print its secret once. A running server sends it the events from now on.", {
    "accountlink webhooks create --account acme --url https://example.com/links":
      "A webhook for everything that the account links",
    "accountlink webhooks create --account acme --guild-id 700000000000000001 --url https://example.com/links --type link.set --type link.removed":
      "A webhook for two types of events of one guild",
  }),
);

const updateFlags = {
  id: webhookArgument,
  url: urlFlag.pipe(Flag.optional),
  types: typesFlag,
  allTypes: switchFlag("all-types", "Send all types of events"),
  description: descriptionFlag.pipe(Flag.optional),
  status: fieldFlag("status", fields.status).pipe(Flag.optional),
};

type UpdateChoice = Command.Command.Config.Infer<typeof updateFlags>;

const updateOf = ({ url, types, allTypes, description, status }: UpdateChoice): WebhookUpdate => ({
  ...Record.getSomes({ url, description }),
  ...(Option.isSome(status) ? { status: status.value } : {}),
  ...(types.length > 0 || allTypes ? { types } : {}),
});

const checkUpdate = (choice: UpdateChoice) => {
  if (choice.types.length > 0 && choice.allTypes) return refuse("--all-types takes no --type beside it");
  return Object.keys(updateOf(choice)).length === 0
    ? refuse("webhooks update needs at least one flag that changes the webhook")
    : Effect.void;
};

export const updateWebhookCommand = managed("update", updateFlags, function* (choice) {
  const { id } = choice;
  const webhooks = yield* Webhooks;
  const updated = webhooks.update(null, id, updateOf(choice), operatorOrigin());
  const webhook = yield* Effect.catchTag(updated, ["BadRequest", "InvalidParameter"], failed(`update ${id}`));
  yield* answerWithLocation(webhookJson(webhook), `Updated ${id}`);
}).pipe(
  Command.validate(checkUpdate),
  describe(
    "Change a webhook. Types that are given replace all of its types. A running server applies it " +
      "within a second; a disabled webhook gets events again once it is made active.",
    {
      "accountlink webhooks update wh_Aa0Bb1Cc2Dd3Ee4Ff5Gg --status paused":
        "Keep its events until it is active again",
    },
  ),
);
