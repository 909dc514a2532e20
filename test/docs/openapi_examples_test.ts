/**
 * Runs the requests of `/docs` in a shell, as printed, against the demo, and compares the answers with the documented ones.
 * With `-u`, it records those that differ.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { dashboardRoutes, pathTemplate, type Route, routes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { headersOf } from "../contract/dashboard.ts";
import { plain, sampled } from "../contract/example_text.ts";
import { eventually } from "../support/eventually.ts";
import { type FlowBrowser, locationOf, openBrowser } from "../support/flow_browser.ts";
import { type Json, listOf, textOf } from "../support/http.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { hasProgram, runShell } from "./shell.ts";

/**
 * The routes of a group share one demo, so their order matters. A route without a number runs at 0 if it reads, else at 1.
 * A new route that reads needs no number: it sees the links of the fixture, and the one that `patchGame` adds.
 */
const places: Readonly<Record<string, number>> = {
  patchGame: -1,
  updateGame: -1,
  getAltReviews: 2,
  deleteGameLink: 2,
  deleteAltReview: 3,
  deleteData: 4,
  resetDatabase: 4,
};
const placeOf = ({ id, method }: Route): number => places[id] ?? (method === "GET" ? 0 : 1);
const inOrder = (generation: Route["generation"]) =>
  routes
    .filter((route) => route.generation === generation)
    .toSorted((one, other) => placeOf(one) - placeOf(other));

/** The operations of the dashboard, each after those that make what it needs. */
const dashboardOrder = [
  [
    "getSignIn",
    "getGuilds",
    "getScopes",
    "getRoleHistory",
    "getScope",
    "patchScope",
    "getCommunity",
    "patchAccount",
  ],
  ["chooseAccount", "declineInvitation", "addMember", "patchMember", "getMembers", "removeMember"],
  ["createKey", "patchKey", "rotateKey", "getKeys", "revokeKey"],
  ["putOwnedLink", "getOwnedLinks", "deleteOwnedLink", "restoreOwnedLink", "getUnlinked"],
  ["importBlocks", "putBlock", "getBlocks", "exportBlocks", "deleteBlock"],
  ["putOwnedAltReview", "getOwnedAltReviews", "deleteOwnedAltReview", "getAltQueue"],
  ["getChannels", "postPanel", "getRanks"],
  ["previewRoles", "getRolePreview", "putRoles", "getRoles", "sweepRoles", "putRolesBack"],
  [
    "deleteRoles",
    "createWebhook",
    "testWebhook",
    "getDeliveries",
    "resendDelivery",
    "patchWebhook",
    "rotateWebhook",
  ],
  ["sendPendingDeliveries", "getWebhooks", "deleteWebhook", "getUsage", "getAudit"],
  ["deleteSignIn", "deleteScope", "deleteAccount"],
].flat();

const groups = {
  v2: inOrder("v2"),
  v1: inOrder("v1"),
  dashboard: dashboardOrder.flatMap((id) => dashboardRoutes.filter((route) => route.id === id)),
};

const entities = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };

/** The request of a card as a reader copies it. */
const lineOf = (page: string, { id }: Route): string => {
  const [, card = ""] = page.split(` id="${id}"`);
  const [, line = ""] = /<h4>Request<\/h4><pre>(.*?)<\/pre>/s.exec(card) ?? [];
  return line.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity as keyof typeof entities]);
};

const shownFor = (document: Json, route: Route): unknown => {
  const operation = document["paths"]?.[pathTemplate(route)]?.[route.method.toLowerCase()];
  return Object.values(operation?.["responses"]?.[String(route.status ?? 200)]?.["content"] ?? {})[0]?.[
    "example"
  ];
};

/** What differs between runs in answers of the dashboard, besides what `plain` knows. */
const varying: ReadonlyArray<readonly [RegExp, string]> = [
  [/(?<="(?:token|display|secret|csrfToken)":")[^"]+/g, "a secret"],
  [/(?<="(?:id|keyId|webhookId|messageId|next)":")[\w]{12,}/g, "an id"],
  [/(?<="(?:served|refused|errors|perWindow|done|total)":)\d+/g, "0"],
  [/(?<="day":")[\d-]+/g, "a day"],
  [/"sweep":\{[^}]*\}/g, '"sweep":null'],
  [/"(lastUsedAt|lastSweepAt|sweptAt)":"a time"/g, '"$1":null'],
];

/** The demo's keys of one millisecond are listed in any order. */
const inOneOrder = (name: string, value: unknown): unknown =>
  name === "keys" && Array.isArray(value) ? value.map((key) => JSON.stringify(key)).toSorted() : value;

const comparable = (value: unknown): unknown =>
  JSON.parse(
    varying.reduce((text, [pattern, to]) => text.replaceAll(pattern, to), JSON.stringify(plain(value))),
    inOneOrder,
  );

const file = join(import.meta.dirname, "../../packages/http-api/open_api/answers.json");

const recorded = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;

/** Records no secrets, and the IDs of the documents in place of the run's. */
const secrets: ReadonlyArray<readonly [RegExp, string]> = [
  [/(?<=")(alk_|whsec_)[^"]+/g, "$1…"],
  [/(?<="csrfToken":")[^"]+/g, "…"],
  [/(?<="id":")[A-Za-z0-9]{12}(?=")/g, "Aa0Bb1Cc2Dd3"],
  [/wh_\w{20}/g, "wh_0123456789abcdefghij"],
];

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The part of an answer that the envelope does not add. */
const answerIn = (value: unknown): unknown => {
  const text = secrets.reduce((all, [from, to]) => all.replaceAll(from, to), JSON.stringify(sampled(value)));
  const answer: unknown = JSON.parse(text);
  if (!isObject(answer) || answer["data"] === undefined) return answer;
  const { data, message, resolved, meta } = answer;
  return { data, message, resolved, bulk: meta?.["bulk"] };
};

const envelopeIn = (value: unknown) =>
  isObject(value) ? { ...value, data: null, message: null, resolved: null } : null;

const valueOf = (text: string): unknown =>
  text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text;

test("the order of the dashboard's operations has each of them", () => {
  expect(dashboardOrder.toSorted()).toEqual(dashboardRoutes.map(({ id }) => id).toSorted());
});

describe.skipIf(!(await hasProgram("curl"))).each(Object.entries(groups))(
  "the requests of %s",
  (group, own) => {
    let running: RunningServer | undefined;
    let document: Json = {};
    let page = "";
    let folder = "";
    const browsers: Array<FlowBrowser> = [];
    const variables: Record<string, string> = {};
    const demo = () => running as RunningServer;

    /** Asks again while the requests before have used up the limit of the address, as `run` does. */
    const sessionOf = async (headers: Readonly<Record<string, string>>): Promise<Json> => {
      const { status, body } = await demo().send("GET /dashboard/api/session", { headers });
      if (status !== 429) return body.data ?? {};
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return sessionOf(headers);
    };

    const signIn = async (chatId: string) => {
      const browser = openBrowser(() => demo().url, "127.0.0.1");
      browsers.push(browser);
      await browser.get(await browser.signIn(locationOf(await browser.get("/dashboard/sign-in")), chatId));
      const headers = headersOf(browser, demo().url, "");
      const csrfToken = textOf((await sessionOf(headers))["csrfToken"]);
      return {
        session: textOf(browser.cookies.get("accountlink_session")),
        csrfToken,
        headers: { ...headers, "x-csrf-token": csrfToken },
      };
    };

    /** What the requests of the dashboard need: a sign-in, a key that manages, and an invitation to decline. */
    const enterDashboard = async () => {
      const linus = await signIn("100004");
      await demo().send("POST /dashboard/api/members", {
        headers: linus.headers,
        body: { chatId: "100001", role: "moderator" },
      });
      const ada = await signIn("100001");
      const { body } = await demo().send("POST /dashboard/api/keys", {
        headers: ada.headers,
        body: { name: "manager", scope: "global", access: "manage" },
      });
      const session = await sessionOf(ada.headers);
      Object.assign(variables, {
        ACCOUNTLINK_SESSION: ada.session,
        CSRF_TOKEN: ada.csrfToken,
        ACCOUNTLINK_MANAGE_KEY: textOf(body.data?.["token"]),
        CHAT_ID: "100004",
        ACCOUNT: textOf(listOf(session["invitations"])[0]?.["account"]),
      });
    };

    /** Keeps the IDs of an answer for the next requests, and what a request has to have before. */
    const noteIds = (id: string, data: Json | undefined) => {
      if (id === "getScopes") variables["PID"] = textOf(listOf(data?.["scopes"])[0]?.["pid"]);
      if (id === "createKey") variables["KEY_ID"] = textOf(data?.["key"]?.["id"]);
      if (id === "createWebhook") variables["WEBHOOK_ID"] = textOf(data?.["webhook"]?.["id"]);
      if (id === "testWebhook") variables["EVENT_ID"] = textOf(data?.["delivery"]?.["eventId"]);
      if (id === "chooseAccount") variables["CSRF_TOKEN"] = textOf(data?.["csrfToken"]);
    };

    const prepare = async ({ id, path }: Route) => {
      if (path.includes(":sid")) {
        const options = { key: variables["ACCOUNTLINK_KEY"] ?? "", body: { clientId: "player-7" } };
        variables["SID"] = textOf((await demo().send("POST /v2/sessions", options)).body.data?.["sid"]);
      }
      // The request before has ended the sign-in.
      if (id === "deleteScope") {
        const { session, csrfToken } = await signIn("100001");
        Object.assign(variables, { ACCOUNTLINK_SESSION: session, CSRF_TOKEN: csrfToken });
      }
    };

    const run = async (line: string): Promise<{ readonly status: number; readonly text: string }> => {
      const printed = await runShell(line, { cwd: folder, env: { ...variables, CURL_HOME: folder } });
      const [, text = "", status = ""] = /^(.*)\n(\d+)$/s.exec(printed) ?? [];
      if (status !== "429") return { status: Number(status), text };
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return run(line);
    };

    beforeAll(async () => {
      running = await startServerHere({
        fixture: "demo",
        env: {
          ACCOUNTLINK_STREAM_MAX: "100 millis",
          ACCOUNTLINK_PREMIUM_PER_WINDOW: "10",
          ACCOUNTLINK_SESSION_CREATE_BURST: "0",
        },
      });
      await eventually(() => expect(demo().output()).toContain("Stop with"));
      document = (await demo().send("GET /openapi.json")).body;
      page = (await demo().send("GET /docs")).text;
      folder = await mkdtemp(join(tmpdir(), "requests-"));
      await writeFile(join(folder, ".curlrc"), 'silent\nwrite-out = "\\n%{http_code}"\n');
      variables["ACCOUNTLINK_KEY"] = textOf(/premium +(alk_\S+)/.exec(demo().output())?.[1]);
      if (group === "dashboard") await enterDashboard();
    });

    afterAll(async () => {
      for (const { close } of browsers) close();
      await running?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    test.each(own.filter(({ access }) => access !== "redirect"))(
      "the request of $id is answered as a success",
      async (route) => {
        await prepare(route);
        const { status, text } = await run(lineOf(page, route));
        const value = valueOf(text);
        noteIds(route.id, (value as Json).data);
        const shown = shownFor(document, route);
        expect({ status, envelope: comparable(envelopeIn(value)) }).toEqual({
          status: route.status ?? 200,
          envelope: comparable(envelopeIn(shown)),
        });
        if (!isDeepStrictEqual(comparable(value), comparable(shown))) recorded[route.id] = answerIn(value);
      },
    );
  },
);

test("the answers are those of the documents", async () => {
  const lines = Object.keys(recorded)
    .toSorted()
    .map((id) => `  "${id}": ${JSON.stringify(recorded[id])}`);
  await expect(`{\n${lines.join(",\n")}\n}\n`).toMatchFileSnapshot(file);
});
