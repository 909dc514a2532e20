import { decodeFixture } from "@accountlink/core/fixture";
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { startServer } from "../test_server.ts";

const member = {
  chatId: "10001",
  nickname: "A",
  joined: "2024-01-01T00:00:00Z",
  roles: [{ id: "1", name: "One" }],
};
const engineRoom = { id: "70001", name: "Engine Room" };

const platform = {
  guilds: [
    { ...engineRoom, members: [{ ...member, manager: true }] },
    { id: "70002", bot: false, members: [{ chatId: "10001" }] },
    { id: "70003" },
  ],
  chatUsers: [{ id: "10001" }, { id: "10002" }],
  gameUsers: [{ id: "1" }],
};

const started = Effect.flatMap(decodeFixture(JSON.stringify({ platform })), (fixture) =>
  startServer(fixture.platform),
);

type Row = [path: string, status: number, body: unknown];

// The routes that are missing here are tested in `platforms_test.ts`, through the adapters.
test.each<Row>([
  ["/chat/api/bot/guilds", 200, { guilds: [engineRoom, { id: "70003", name: null }] }],
  ["/chat/api/guilds/70001/members", 200, { members: [member] }],
  ["/chat/api/guilds/70002/members", 404, { code: "unknown_guild" }],
  ["/chat/api/nowhere", 404, { code: "unknown_route" }],
  ["/", 404, { code: "unknown_route" }],
])("the dev platform answers %s with %i", function* ([path, status, body]) {
  const { send } = yield* started;
  expect(yield* send("GET", path)).toMatchObject({ status, body });
});

test("the chat platform requires the bot's token", function* () {
  const { send } = yield* started;
  for (const token of [null, "another", ""]) {
    const refused = { status: 401, body: { code: "unauthorized" } };
    expect(yield* send("GET", "/chat/api/users/10001", { token })).toMatchObject(refused);
    expect(yield* send("GET", "/game/api/users/1", { token })).toMatchObject({ status: 200 });
  }
});

test("the dev platform adds and removes members and the bot", function* () {
  const { send } = yield* started;
  const codeOf = (path: string) =>
    Effect.map(send("GET", `/chat/api${path}`), ({ body }) => body.code ?? "found");
  const [guild, newcomer] = ["/guilds/70001", "/guilds/70001/members/10002"];

  const names = { username: null, displayName: null };
  const joined = { manager: false, nickname: "B", joined: null, roles: [], ...names };
  expect(yield* send("PUT", `/control${newcomer}`, { body: { nickname: "B" } })).toMatchObject({
    status: 204,
  });
  expect((yield* send("GET", `/chat/api${newcomer}`)).body).toEqual({ chatId: "10002", ...joined });
  yield* send("DELETE", `/control${newcomer}`);
  expect(yield* codeOf(newcomer)).toBe("unknown_member");
  yield* send("PUT", `/control${guild}`, { body: { bot: false } });
  expect(yield* codeOf(guild)).toBe("unknown_guild");
  yield* send("PUT", `/control${guild}`, { body: { bot: true } });
  expect(yield* codeOf(guild)).toBe("found");
});

test.each<["PUT" | "DELETE", path: string, body: unknown, status: number]>([
  ["PUT", "/control/guilds/70009", { bot: true }, 404],
  ["PUT", "/control/guilds/70001", { bot: "yes" }, 400],
  ["PUT", "/control/guilds/70009/members/10002", {}, 404],
  ["PUT", "/control/guilds/70001/members/x", {}, 400],
  ["PUT", "/control/guilds/70001/members/10002", { roles: "all" }, 400],
  ["DELETE", "/control/guilds/70009/members/10002", undefined, 404],
  ["PUT", "/control/guilds/70001/roles/1", { name: "One" }, 400],
  ["DELETE", "/control/guilds/70009/roles/1", undefined, 404],
  ["PUT", "/faults", { mode: "tired" }, 400],
  ["PUT", "/faults", { mode: "slow" }, 400],
  ["PUT", "/faults", { mode: "down", status: 200 }, 400],
  ["PUT", "/faults", { mode: "cut", times: 0 }, 400],
  ["PUT", "/faults", { mode: "cut", under: 1 }, 400],
  ["PUT", "/faults", { mode: "cut", platform: "both of them" }, 400],
])("the dev platform refuses %s %s with %o", function* ([method, path, body, status]) {
  const { send } = yield* started;
  expect(yield* send(method, path, { body })).toMatchObject({ status });
  expect((yield* send("GET", "/faults")).body).toEqual({ chat: null, game: null });
});

test("the dev platform reports how many requests it got", function* () {
  const { send, traffic } = yield* started;
  expect(yield* traffic).toEqual({ routes: {}, peak: 0, changes: {} });
  for (const id of ["1", "9"]) yield* send("GET", `/game/api/users/${id}`);
  yield* send("GET", "/chat/api/users/10001", { token: null });
  const routes = { "GET /game/api/users/:gameId": 2, "GET /chat/api/users/:chatId": 1 };
  expect(yield* traffic).toEqual({ routes, peak: 1, changes: {} });
  yield* send("DELETE", "/requests");
  expect(yield* traffic).toEqual({ routes: {}, peak: 0, changes: {} });
});

test("faults of several routes affect only requests with their ending", function* () {
  const { send, setFault } = yield* started;
  const route = "GET /chat/api/users/:chatId";
  yield* setFault({ mode: "refused", code: "unknown_user", platform: "chat", route, ending: "1" });
  yield* setFault({
    mode: "refused",
    code: "no_item",
    platform: "game",
    route: "GET /game/api/users/:gameId",
  });
  const answer = (path: `/${string}`) =>
    Effect.map(send("GET", path), ({ status, body }) => [status, (body as { code?: string }).code]);
  expect(yield* answer("/chat/api/users/10001")).toEqual([404, "unknown_user"]);
  expect(yield* answer("/chat/api/users/10002")).not.toEqual([404, "unknown_user"]);
  expect(yield* answer("/game/api/users/1")).toEqual([400, "no_item"]);
  expect(yield* answer("/game/api/users/1/profile")).toEqual([200, undefined]);
});

test("a fault affects one platform, for the given number of requests", function* () {
  const { send, setFault } = yield* started;
  const statuses = Effect.all([
    Effect.map(send("GET", "/chat/api/users/10001"), ({ status }) => status),
    Effect.map(send("GET", "/game/api/users/1"), ({ status }) => status),
  ]);

  yield* setFault({ mode: "down", platform: "game", times: 2 });
  const left = { mode: "down", platform: "game", status: 503 };
  expect((yield* send("GET", "/faults")).body).toEqual({ chat: null, game: { ...left, times: 2 } });
  expect(yield* statuses).toEqual([200, 503]);
  expect((yield* send("GET", "/faults")).body).toEqual({ chat: null, game: { ...left, times: 1 } });
  expect(yield* statuses).toEqual([200, 503]);
  expect(yield* statuses).toEqual([200, 200]);

  yield* setFault({ mode: "down", status: 502 });
  yield* setFault({ mode: "limited", platform: "chat", retryAfter: 7 });
  expect(yield* statuses).toEqual([429, 502]);
  expect((yield* send("GET", "/chat/api/users/10001")).headers["retry-after"]).toBe("7");
  yield* send("DELETE", "/faults");
  expect(yield* statuses).toEqual([200, 200]);

  yield* setFault({ mode: "down", under: "/chat/api/users", times: 1 });
  expect(yield* send("GET", "/chat/api/guilds/70001")).toMatchObject({ status: 200 });
  expect(yield* statuses).toEqual([503, 200]);
  expect(yield* statuses).toEqual([200, 200]);
});
