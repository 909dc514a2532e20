/** Routes of the pages of webhooks, and the forms that create and change webhooks. */
import { InvalidParameter } from "@accountlink/core/errors";
import {
  deliveryStatuses,
  type WebhookDelivery,
  type WebhookDetails,
  Webhooks,
} from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { jsonRoutes } from "../api_pipeline.ts";
import { type Made, refusedIfSent } from "../keys/new_key_page.ts";
import { webhookName } from "../look/names.ts";
import type { NoticeName } from "../look/notice.ts";
import { guildErrors, orShowAgain, type Refused } from "../look/refused.ts";
import { requireSeen } from "../look/rotation.ts";
import {
  makeActs,
  makeGuildChoice,
  namedGuilds,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
} from "../owner_pages.ts";
import { deliveryPath, paths, webhookPath } from "../paths.ts";
import { emptyWebhookForm, type NewWebhookForm, typedWebhook, type WebhookForm } from "./webhook_form.ts";
import { makeWebhookOperations } from "./webhook_operations.ts";
import {
  deliveryPage,
  issuedWebhookPage,
  newWebhookPage,
  webhookPage,
  webhooksPage,
} from "./webhook_pages.ts";

const pageSize = 25;

export const webhookRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const webhooks = yield* Webhooks;
  const operations = yield* makeWebhookOperations;
  const guildsOf = yield* makeGuildChoice;

  const webhookOf = ({ owner, context }: OwnerVisitor) =>
    webhooks.find(owner.account.name, String(context.query["id"]));

  const newestOf = ({ owner }: OwnerVisitor) =>
    Effect.map(webhooks.list(owner.account.name), (listed): Made | undefined => {
      const webhook = listed.at(-1);
      return (
        webhook && {
          createdAt: webhook.createdAt,
          name: webhookName(webhook),
          path: webhookPath(webhook.id),
        }
      );
    });

  const blank = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: NewWebhookForm,
    refused: Refused | null,
  ) {
    const newest = yield* newestOf(visitor);
    return newWebhookPage(typed, yield* guildsOf(visitor), { refused, newest });
  });

  const show = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    webhook: WebhookDetails,
    typed: WebhookForm,
    query: (name: string) => string,
    refused: Refused | null,
  ) {
    const filter = deliveryStatuses.find((status) => status === query("status")) ?? null;
    const before = query("cursor") || null;
    const { name } = visitor.owner.account;
    const found = yield* webhooks.deliveries(name, webhook.id, { status: filter, before, limit: pageSize });
    const now = visitor.context.clock.currentTimeMillisUnsafe();
    return webhookPage({ webhook, guilds: namedGuilds(visitor), filter, now, ...found }, typed, refused);
  });

  const deleted = seeOther(paths.webhooks, { done: "deleted" });

  /** A button that is pressed twice finds the webhook deleted. */
  const webhookOrDeleted = (visitor: OwnerVisitor) =>
    Effect.catchTag(webhookOf(visitor), "BadRequest", () => Effect.succeed(deleted));

  const act = makeActs({ form }, webhookPath, webhookOrDeleted, (visitor, webhook, refused, fields, name) =>
    show(visitor, webhook, name === "update" ? typedWebhook(fields) : webhook, () => "", refused),
  );

  return [
    ...jsonRoutes(operations),
    page(paths.webhooks, function* (visitor) {
      return webhooksPage(yield* webhooks.list(visitor.owner.account.name), namedGuilds(visitor));
    }),
    page(paths.newWebhook, (visitor) => blank(visitor, emptyWebhookForm, null)),
    form(paths.webhooks, function* (visitor, fields) {
      const typed = typedWebhook(fields);
      const sent = refusedIfSent("webhook", fields, yield* newestOf(visitor));
      if (sent !== null) return yield* blank(visitor, typed, sent);
      return yield* orShowAgain(
        Effect.map(operations.create.submit(visitor, fields), (issued) =>
          issuedWebhookPage({ ...issued, isNew: true }),
        ),
        (refused) => blank(visitor, typed, refused),
        guildErrors,
      );
    }),
    page(webhookPath(":id"), (visitor, query) =>
      Effect.flatMap(webhookOf(visitor), (webhook) => show(visitor, webhook, webhook, query, null)),
    ),

    page(deliveryPath(":id", ":eventId"), function* (visitor) {
      const webhook = yield* webhookOf(visitor);
      const eventId = String(visitor.context.query["eventId"]);
      const sent = yield* webhooks.sent(visitor.owner.account.name, webhook.id, eventId);
      return deliveryPage(webhook, sent);
    }),

    act("update", operations.update, "webhookUpdated"),
    act("status", operations.update, ({ status }) => (status === "active" ? "resumed" : "paused")),
    act("test", operations.test, sentNotice),
    act("send-pending", operations.sendPending, "pendingSent"),
    act("resend", operations.resend, sentNotice),
    act(
      "rotate",
      operations.rotate,
      (issued) => issuedWebhookPage({ ...issued, isNew: false }),
      requireSeen("secret", "rotate"),
    ),
    act(
      "delete",
      operations.remove,
      () => deleted,
      (_, fields) =>
        fields("confirm") === "true"
          ? Effect.succeed({})
          : InvalidParameter.one("confirm", "tick the box to delete it"),
    ),
  ];
});

const sentNotice = ({ error }: WebhookDelivery): NoticeName => (error === null ? "sent" : "notSent");
