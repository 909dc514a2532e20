import type { BadRequest, Conflict, InvalidParameter } from "@accountlink/core/errors";
import { eventTypes } from "@accountlink/core/events";
import { isWebhookId } from "@accountlink/core/webhooks";
import { Argument, Flag } from "effect/cli";
import { problemsText } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";

export const webhookArgument = Argument.String("webhook").pipe(
  Argument.withDescription("Id of the webhook, as webhooks list shows it"),
  Argument.filter(isWebhookId, () => 'expected "wh_" and 20 letters or digits'),
);

export const urlFlag = Flag.String("url").pipe(
  Flag.withMetavar("url"),
  Flag.withDescription("Where the events are sent, an absolute https URL"),
);

export const descriptionFlag = Flag.String("description").pipe(
  Flag.withMetavar("text"),
  Flag.withDescription("What the webhook is for"),
);

export const typesFlag = Flag.Literals("type", eventTypes).pipe(
  Flag.withDescription("A type of events that are sent; can be repeated (default: all)"),
  Flag.atLeast(0),
);

export const failed = (doing: string) => (error: BadRequest | Conflict | InvalidParameter) =>
  new CommandFailed({ problem: `Cannot ${doing}: ${reasonOf(error)}` });

const reasonOf = (error: BadRequest | Conflict | InvalidParameter): string => {
  switch (error._tag) {
    case "BadRequest":
      return "there is no such webhook";
    case "Conflict":
      return "too many tests of its account are in flight";
    case "InvalidParameter":
      return problemsText(error);
  }
};
