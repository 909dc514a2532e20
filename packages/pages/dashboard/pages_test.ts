/** Rules for every page: it escapes text by strangers, and it is small. */
import { gzipSync } from "node:zlib";
import { Limits } from "@accountlink/core/limits";
import { makeDelivery } from "@accountlink/testing";
import { describe, expect, it } from "vitest";
import { html } from "../html.ts";
import { accountPage } from "./account/account_page.ts";
import { altsPage, emptyAltsForm } from "./alts/alts_page.ts";
import { auditPage } from "./audit/audit_page.ts";
import { communitiesPage } from "./communities/communities_page.ts";
import { communityPage } from "./communities/community_page.ts";
import { issuedPage } from "./keys/issued_page.ts";
import { rulesOf } from "./keys/key_form.ts";
import { keyPage } from "./keys/key_page.ts";
import { keysPage } from "./keys/keys_page.ts";
import { emptyKeyForm, newKeyPage } from "./keys/new_key_page.ts";
import { linkQuestion, unlinkQuestion } from "./links/link_questions.ts";
import { linksPage } from "./links/links_page.ts";
import { unlinkAllQuestion } from "./links/unlink_all.ts";
import { linkedUserPage } from "./links/user_page.ts";
import { visibleName, withId } from "./look/account_name.ts";
import { script } from "./look/script.ts";
import { style } from "./look/style.ts";
import { teamPage } from "./members/team_page.ts";
import { overviewPage } from "./overview/overview_page.ts";
import { documentOf, type Page } from "./page.ts";
import { previewPage } from "./preview/preview_page.ts";
import {
  chatId,
  makeAlts,
  makeCommunity,
  makeDays,
  makeEntry,
  makeGuild,
  makeKey,
  makeNamedLink,
  makeVisitor,
  makeWebhook,
  now,
  quota,
} from "./test_data.ts";
import { emptyTrialForm, trialPage } from "./trial/trial_page.ts";
import { usagePage } from "./usage/usage_page.ts";
import { issuedWebhookPage } from "./webhooks/issued_webhook_page.ts";
import { newWebhookPage } from "./webhooks/new_webhook_page.ts";
import { emptyWebhookForm, formOfWebhook } from "./webhooks/webhook_form.ts";
import { webhookPage } from "./webhooks/webhook_page.ts";
import { webhooksPage } from "./webhooks/webhooks_page.ts";

const hostile = `"'><img src=x onerror=alert(1)></textarea><script>alert(1)</script>`;

/** Every page, with the given text in place of each text that a stranger can choose. */
const pagesWith = (text: string): Readonly<Record<string, Page>> => {
  const key = makeKey({ name: text, allowIps: [text], redirectOrigins: [text] });
  const keys = [key];
  const guilds = [makeGuild(text)];
  const visitor = makeVisitor(text);
  const days = makeDays(90, 1000, 10);
  const entry = makeEntry({
    action: "key.reported",
    actor: { type: "account", id: text, member: text },
    details: { note: text, [text]: 1 },
  });
  const webhook = makeWebhook({ description: text, status: "disabled", disabledReason: "failing" });
  const failing = {
    ...webhook,
    status: "active",
    disabledReason: null,
    failingSince: now,
    pending: 3,
  } as const;
  const delivery = { ...makeDelivery({ type: text, eventId: text }), status: "failing" } as const;
  const problems = [{ name: "name", reason: text }];
  const list = { keys, guilds, used: 1, allowed: 10 };
  const today = [{ key, quota, usage: [] }];
  const start = {
    guilds,
    botInvite: { plain: "/invite", forRoles: "/invite" },
    publicUrl: "",
    rolesOn: false,
    csrf: "token",
  };
  const community = makeCommunity(text);
  const named = makeNamedLink(text);
  const { gameId } = named.link;
  const lists = [community, community].map((one) => ({ community: one, link: named }));
  const names = { keys, me: { chatId, name: text } };
  const request = { method: "GET", url: `http://localhost/${encodeURIComponent(text)}` } as const;
  return {
    overview: overviewPage(
      {
        ...list,
        days: days.slice(0, 14),
        today,
        leaks: [entry],
        active: 6,
        broken: [webhook, failing],
        links: { count: 7, age: null },
        lists: 2,
        verified: { last: { count: 3, age: 0 }, before: { count: 2, age: 0 } },
        alone: null,
        steps: { ...start, community },
      },
      now,
    ),
    communities: communitiesPage({ ...start, botInvite: () => start.botInvite, communities: [community] }),
    noCommunities: communitiesPage({ ...start, botInvite: () => null, communities: [] }),
    community: communityPage(
      {
        ...start,
        community,
        tryUrl: "/channel",
        panel: {
          name: text,
          text,
          sentence: text,
          verify: { label: "Verify", url: "/verify" },
          roles: "Update my roles",
          answersFor: "this list",
          isOn: true,
        },
        previews: [{ title: text, document: html`<p>${text}</p>` }],
      },
      { displayName: text, supportUrl: text, doneText: text },
      visitor,
      null,
      [{ name: "displayName", reason: text }],
    ),
    links: linksPage(
      {
        communities: [community, community],
        community,
        search: text,
        sort: "name",
        day: "",
        links: Array.from({ length: 25 }, () => named),
        byHand: new Set([chatId]),
        next: text,
        previous: text,
        unlinked: [{ chatId, chat: named.chat }],
      },
      { chat: text, game: text },
      visitor,
      null,
      [{ name: "chat", reason: text }],
    ),
    linkedUser: linkedUserPage(
      { community, chatId, chat: named.chat, link: named, lists, history: [entry], names },
      text,
      visitor,
      null,
      [],
    ),
    unlink: unlinkQuestion({ community, chatId, gameId, ...named }, lists, visitor),
    unlinkAll: unlinkAllQuestion(chatId, named.chat, lists, text, visitor),
    link: linkQuestion(
      { community, chatId, gameId, ...named },
      { gameId, game: named.game },
      visitor,
      "user",
    ),
    keys: keysPage(list, null, now),
    manyKeys: keysPage(
      list,
      Array.from({ length: 20 }, () => ({ key, days: days.slice(0, 7) })),
      now,
    ),
    newKey: newKeyPage({ ...emptyKeyForm, name: text, denyIps: text }, guilds, visitor, {
      status: 400,
      problems,
      general: text,
    }),
    issued: issuedPage({ key, token: "alk_token", isNew: false }, "http://localhost", chatId),
    key: keyPage(
      { key, quota, guilds, created: entry, history: [entry], names },
      rulesOf(key),
      visitor,
      now,
      null,
      null,
    ),
    usage: usagePage({ days, byKey: [{ key, days }], keys }, { keyId: null, days: 90 }),
    audit: auditPage(
      { entries: Array.from({ length: 100 }, () => entry), next: text, keys, names },
      { action: null, keyId: text, chatId: text },
      visitor,
      [{ name: "chatId", reason: text }],
    ),
    alts: altsPage(
      { ...emptyAltsForm, id: text },
      {
        tier: "premium",
        contact: null,
        communities: [community],
        found: makeAlts(text),
        problems,
        general: text,
        status: 400,
      },
      visitor,
      now,
      null,
    ),
    trial: trialPage(
      { ...emptyTrialForm, id: text, guildId: text },
      visitor,
      { url: text, request, status: 200, headers: [["x", text]], body: text },
      problems,
    ),
    preview: previewPage(
      [{ label: text, states: [{ name: text, title: text }] }],
      { name: text, title: text },
      html`<p>${text}</p>`,
    ),
    webhooks: webhooksPage({ webhooks: [webhook], guilds }, null),
    newWebhook: newWebhookPage({ ...emptyWebhookForm, url: text, description: text }, guilds, visitor, {
      status: 400,
      problems,
      general: text,
    }),
    issuedWebhook: issuedWebhookPage({ webhook, secret: "whsec_", isNew: true }),
    webhook: webhookPage(
      { webhook, guilds, filter: null, next: text, deliveries: Array.from({ length: 25 }, () => delivery) },
      formOfWebhook(webhook),
      visitor,
      null,
      null,
    ),
    team: teamPage(
      {
        members: [
          { chatId, role: "admin", since: now, chosenAt: null, invitedBy: null, profile: named.chat },
        ],
        me: chatId,
        signInUrl: "http://localhost/dashboard",
      },
      { who: text, role: "moderator" },
      visitor,
      null,
      { status: 400, problems: [{ name: "who", reason: text }], general: text },
    ),
    account: accountPage(
      {
        ...list,
        limits: Limits.defaultValue(),
        contact: text,
        account: visitor.account,
        shared: { name: text, otherwise: text, problems },
        chatId: text,
        accounts: [visitor.account.name, "other"].map((name) => ({
          account: { name, chatId: null, tier: "free", status: "active" },
          role: "admin",
          since: now,
          chosenAt: now,
          invitedBy: null,
        })),
        invitations: [
          {
            account: { name: text, chatId: null, tier: "free", status: "active" },
            role: "owner",
            since: now,
            chosenAt: null,
            invitedBy: null,
            inviter: text,
          },
        ],
        signIns: [{ id: text, device: text, createdAt: now, expiresAt: now, isThis: false }],
      },
      visitor,
      null,
    ),
  };
};

const sourceOf = (page: Page, name: string): string =>
  documentOf(page, makeVisitor(name), html`<footer></footer>`).source;

describe.each(Object.entries(pagesWith(hostile)))("the page %s", (_, page) => {
  const source = sourceOf(page, hostile);

  it("a page escapes names that strangers chose", () => {
    expect(source).toContain("alert(1)");
    expect(source).not.toContain("<img");
    expect(source.match(/<script/g)).toHaveLength(1);
  });

  it("a page has no inline script or style, and no external address", () => {
    const tags = source.replaceAll(/"[^"]*"/g, '""').match(/<[^>]*>/g) ?? [];
    expect(tags.filter((tag) => /^<style| (?:style|on\w+)=/.test(tag))).toEqual([]);
    expect(source).not.toMatch(/ (?:src|href|action)="(?!\/(?!\/)|#|data:,")/);
  });

  it("a page has one heading, and a csrf field in each form that sends data", () => {
    expect(source.match(/<h1/g)).toHaveLength(1);
    const forms = source.match(
      /<form method="post"[^>]*>\s*<input type="hidden" name="csrf" value="token">/g,
    );
    expect(forms).toHaveLength(source.match(/<form method="post"/g)?.length ?? 0);
  });
});

it("no page contains a direction override, which would reverse the ID after a name", () => {
  for (const page of Object.values(pagesWith("\u202Eevil\u2067"))) {
    expect(sourceOf(page, "\u202Eevil")).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  }
});

it("the ID of an account stands after its name, also after a name that is written from right to left", () => {
  expect(withId("Ada", "100001")).toBe("Ada (100001)");
  expect(withId("محمد", "100001")).toBe("محمد\u200E (100001)");
});

it("the overview says since when a webhook fails, and how many events wait", () => {
  const source = sourceOf(pagesWith("Our database")["overview"] as Page, "Ada").replaceAll(/<[^>]*>/g, "");
  expect(source).toMatch(/The webhook Our database fails since .* UTC\. 3 events wait\./);
});

it("an account without a visible name is named by its user name, or not at all", () => {
  for (const displayName of ["", "  ", "\u3164", "\u200B\u2800"]) {
    expect(visibleName({ displayName, username: "ada" })).toBe("ada");
    expect(visibleName({ displayName, username: " " })).toBeNull();
  }
});

describe("the dashboard", () => {
  it("the dashboard's style sheet is smaller than 13 kB before compression", () => {
    expect(style.length).toBeLessThan(13_000);
  });

  it("the style sheet, the script and the largest dashboard page together are smaller than 35 kB", () => {
    const pages = Object.values(pagesWith("Rook & Bishop")).map((page) => sourceOf(page, "Ada"));
    const sizeOf = (text: string) => gzipSync(text).length;
    const largest = Math.max(...pages.map(sizeOf));
    expect(sizeOf(style) + sizeOf(script) + largest).toBeLessThan(35_000);
  });
});
