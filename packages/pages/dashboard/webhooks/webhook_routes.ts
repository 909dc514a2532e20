/** Routes of the pages of webhooks, and the forms that create and change webhooks. */
import { InvalidParameter } from "@accountlink/core/errors";
import { originOf } from "@accountlink/core/keys";
import {
  deliveryStatuses,
  type WebhookDelivery,
  type WebhookDetails,
  Webhooks,
} from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { statusOf } from "../keys/key_form.ts";
import type { NoticeName } from "../look/notice.ts";
import { guildErrors, orShowAgain, type Refused, type RefusedAct } from "../look/refused.ts";
import {
  makeActs,
  makeGuildChoice,
  namedGuilds,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
} from "../owner_pages.ts";
import { deliveryPath, paths, type WebhookAct, webhookPath } from "../paths.ts";
import {
  emptyWebhookForm,
  type NewWebhookForm,
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

  const blank = (visitor: OwnerVisitor, typed: NewWebhookForm, refused: Refused | null) =>
    Effect.map(guildsOf(visitor), (guilds) => newWebhookPage(typed, guilds, refused));

  const create = Effect.fnUntraced(function* ({ owner }: OwnerVisitor, typed: NewWebhookForm) {
    const issued = yield* createWebhook(owner, yield* newWebhookOf(typed));
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
    const filter = deliveryStatuses.find((status) => status === query("status")) ?? null;
    const before = query("cursor") || null;
    const { name } = visitor.owner.account;
    const found = yield* webhooks.deliveries(name, webhook.id, { status: filter, before, limit: pageSize });
    return webhookPage({ webhook, guilds: namedGuilds(visitor), filter, ...found }, typed, refused);
  });

  const act = makeActs({ form }, webhookPath, webhookOf, (visitor, webhook, fields, refused) => {
    const typed = refused.act === "update" ? typedWebhook(fields) : webhook;
    return show(visitor, webhook, typed, () => "", refused);
  });

  return [
    page(paths.webhooks, function* (visitor) {
      return webhooksPage(yield* webhooks.list(visitor.owner.account.name), namedGuilds(visitor));
    }),
    page(paths.newWebhook, (visitor) => blank(visitor, emptyWebhookForm, null)),
    form(paths.webhooks, (visitor, fields) => {
      const typed = typedWebhook(fields);
      return orShowAgain(
        create(visitor, typed),
        (refused) => blank(visitor, typed, refused),
        guildErrors,
        visitor.platforms,
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

    act("test", function* ({ owner }, { id }) {
      return seeSent(id, yield* webhooks.test(owner.account.name, id, originOf(owner)));
    }),

    act("send-pending", ({ owner }, { id }) =>
      Effect.as(webhooks.sendPending(owner.account.name, id), seeWebhook(id, "pendingSent")),
    ),

    act("resend", function* ({ owner }, { id }, fields) {
      const { account } = owner;
      return seeSent(id, yield* webhooks.resend(account.name, id, fields("eventId"), originOf(owner)));
    }),

    act("rotate", function* ({ owner }, { id }) {
      const issued = yield* webhooks.rotate(owner.account.name, id, originOf(owner));
      return issuedWebhookPage({ ...issued, isNew: false });
    }),

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

const seeSent = (id: WebhookDetails["id"], { error }: WebhookDelivery) =>
  seeWebhook(id, error === null ? "sent" : "notSent");
