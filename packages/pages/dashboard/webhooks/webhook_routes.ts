/** Routes of the pages of webhooks, and the forms that create and change webhooks. */
import { InvalidParameter } from "@accountlink/core/errors";
import { originOf } from "@accountlink/core/keys";
import {
  type DeliveryStatus,
  type WebhookDelivery,
  type WebhookDetails,
  Webhooks,
} from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { statusOf } from "../keys/key_form.ts";
import type { NoticeName } from "../look/notice.ts";
import { guildErrors, orShowAgain, type RefusedAct } from "../look/refused.ts";
import {
  type Fields,
  makeActs,
  makeGuildChoice,
  namedGuilds,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
} from "../owner_pages.ts";
import { deliveryPath, paths, type WebhookAct, webhookActPath, webhookPath } from "../paths.ts";
import {
  emptyWebhookForm,
  newWebhookOf,
  typedWebhook,
  type WebhookForm,
  webhookUpdateOf,
} from "./webhook_form.ts";
import { webhookPage } from "./webhook_page.ts";
import { deliveryPage, issuedWebhookPage, newWebhookPage, webhooksPage } from "./webhook_pages.ts";
import { makeCreateWebhook } from "./webhooks_api.ts";

const pageSize = 25;

export const webhookRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const webhooks = yield* Webhooks;
  const createWebhook = yield* makeCreateWebhook;
  const guildsOf = yield* makeGuildChoice;

  const webhookOf = ({ owner, context }: OwnerVisitor) =>
    webhooks.find(owner.account.name, String(context.query["id"]));

  const create = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const issued = yield* createWebhook(visitor.owner, yield* newWebhookOf(typedWebhook(fields)));
    return issuedWebhookPage({ ...issued, isNew: true });
  });

  /** @param refused the form that was refused, and why; null if none was refused */
  const show = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    webhook: WebhookDetails,
    typed: WebhookForm,
    query: (name: string) => string,
    refused: RefusedAct<WebhookAct> | null,
  ) {
    const filter = statuses.find((status) => status === query("status")) ?? null;
    const before = query("cursor") || null;
    const { name } = visitor.owner.account;
    const found = yield* webhooks.deliveries(name, webhook.id, { status: filter, before, limit: pageSize });
    return webhookPage({ webhook, guilds: namedGuilds(visitor), filter, ...found }, typed, refused);
  });

  const act = makeActs({ form }, webhookActPath, webhookOf, (visitor, webhook, fields, refused) => {
    const typed = refused.act === "update" ? typedWebhook(fields) : webhook;
    return show(visitor, webhook, typed, () => "", refused);
  });

  return [
    page(paths.webhooks, (visitor) =>
      Effect.map(webhooks.list(visitor.owner.account.name), (all) => webhooksPage(all, namedGuilds(visitor))),
    ),
    page(paths.newWebhook, (visitor) =>
      Effect.map(guildsOf(visitor), (guilds) => newWebhookPage(emptyWebhookForm, guilds, null)),
    ),
    form(paths.webhooks, (visitor, fields) =>
      orShowAgain(
        create(visitor, fields),
        (refused) =>
          Effect.map(guildsOf(visitor), (guilds) => newWebhookPage(typedWebhook(fields), guilds, refused)),
        guildErrors,
      ),
    ),
    page(webhookPath(":id"), (visitor, query) =>
      Effect.flatMap(webhookOf(visitor), (webhook) => show(visitor, webhook, webhook, query, null)),
    ),

    page(deliveryPath(":id", ":eventId"), function* (visitor) {
      const webhook = yield* webhookOf(visitor);
      const eventId = String(visitor.context.query["eventId"]);
      const sent = yield* webhooks.sent(visitor.owner.account.name, webhook.id, eventId);
      return deliveryPage(webhook, sent);
    }),

    act("update", function* ({ owner }, { id }, fields) {
      const update = yield* webhookUpdateOf(id, typedWebhook(fields));
      yield* webhooks.update(owner.account.name, id, update, originOf(owner));
      return seeWebhook(id, "webhookUpdated");
    }),

    act("status", function* ({ owner }, { id }, fields) {
      const status = yield* statusOf(fields, ["active", "paused"]);
      yield* webhooks.update(owner.account.name, id, { status }, originOf(owner));
      return seeWebhook(id, status === "active" ? "resumed" : "paused");
    }),

    act("test", ({ owner }, { id }) =>
      Effect.map(webhooks.test(owner.account.name, id, originOf(owner)), (delivery) =>
        seeWebhook(id, sentNotice(delivery)),
      ),
    ),

    act("send-pending", ({ owner }, { id }) =>
      Effect.as(webhooks.sendPending(owner.account.name, id), seeWebhook(id, "pendingSent")),
    ),

    act("resend", ({ owner }, { id }, fields) =>
      Effect.map(webhooks.resend(owner.account.name, id, fields("eventId"), originOf(owner)), (delivery) =>
        seeWebhook(id, sentNotice(delivery)),
      ),
    ),

    act("rotate", ({ owner }, { id }) =>
      Effect.map(webhooks.rotate(owner.account.name, id, originOf(owner)), (issued) =>
        issuedWebhookPage({ ...issued, isNew: false }),
      ),
    ),

    act("delete", function* ({ owner }, { id }, fields) {
      if (fields("confirm") !== "true") {
        return yield* InvalidParameter.one("confirm", "tick the box to delete it");
      }
      yield* webhooks.remove(owner.account.name, id, originOf(owner));
      return seeOther(paths.webhooks, { done: "deleted" });
    }),
  ];
});

const seeWebhook = (id: WebhookDetails["id"], done: NoticeName) => seeOther(webhookPath(id), { done });

const sentNotice = ({ error }: WebhookDelivery): NoticeName => (error === null ? "sent" : "notSent");

const statuses: ReadonlyArray<DeliveryStatus> = ["delivered", "failing", "given_up"];
