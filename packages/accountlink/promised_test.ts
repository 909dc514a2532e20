import { InvalidParameter, StoreUnavailable } from "@accountlink/core";
import { Context, Effect, Layer, Metric, Tracer } from "effect";
import { expect, test } from "vitest";
import { AccountLinkClosed } from "./errors.ts";
import { AccountLink, createAccountLink, promisedAccountLink } from "./mod.ts";
import { PromiseRunner } from "./promised.ts";

const failed = new StoreUnavailable({ operation: "LinkStore.findByChatId", cause: "connection lost" });
const failsWhenInterrupted = Effect.onExit(Effect.never, () => Effect.fail(failed));

test("a call that fails while the service closes rejects with AccountLinkClosed", async () => {
  const runner = new PromiseRunner(Context.empty());
  const call = runner.run(failsWhenInterrupted);
  await Promise.all([expect(call).rejects.toBeInstanceOf(AccountLinkClosed), runner.close()]);
});

test("a call that fails while it is aborted rejects with the reason of its signal", async () => {
  const runner = new PromiseRunner(Context.empty());
  const controller = new AbortController();
  const call = runner.run(failsWhenInterrupted, controller.signal);
  controller.abort("left");
  await expect(call).rejects.toBe("left");
});

/** The line of this file in which the stack of an error begins. */
const beginningOf = (error: unknown) =>
  /promised_test\.ts(?:\?vitest=\d+)?:(\d+)/.exec((error as Error).stack ?? "")?.[1];

test("the stack of a rejection begins with the line of the caller, also of an error that is rejected with again", async () => {
  const al = await createAccountLink({ gameUserExists: () => false });
  const here = Number(beginningOf(new Error()));
  const set = await al.links.set("100001", "1").catch((error: unknown) => error);
  const wrong = await al.links.get("no ID").catch((error: unknown) => error);
  const events = al.events.follow({ cursor: "no cursor" });
  const streamed = await Reflect.get(events, Symbol.asyncIterator)
    .call(events)
    .next()
    .catch((error: unknown) => error);
  expect([set, wrong, streamed].map((error) => Number(beginningOf(error)) - here)).toEqual([1, 2, 3]);
  await al.close();
  expect(String((set as Error).stack)).toMatch(/^InvalidParameter: /);
  const runner = new PromiseRunner(Context.empty());
  for (let times = 0; times < 2; times++) await runner.run(failed).catch(() => null);
  expect(failed.stack?.match(/promised_test\.ts/g)?.length).toBeLessThan(4);
  const wrongOptions = { gameUserExists: () => true, redirectOrigins: ["x"] };
  const refused: unknown = await createAccountLink(wrongOptions).catch((error: unknown) => error);
  expect(beginningOf(refused)).toBeDefined();
});

test("`on` refuses a name that is no event, and a listener that is no function", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  await expect(al.on("linkSet" as "linkChanged", () => {})).rejects.toMatchObject({
    code: "INVALID_PARAMETER",
    message: expect.stringContaining("linkChanged, linksDeleted"),
  });
  await expect(al.on("linkChanged", null as never)).rejects.toBeInstanceOf(InvalidParameter);
  await al.close();
});

test("closing one promised service leaves the reads of another one on the same services open", async () => {
  const http = { publicUrl: "https://ours.example", clientAddress: "none" } as const;
  const build = Layer.build(AccountLink.layerMemory({ gameUserExists: () => true }));
  const use = async (services: Effect.Success<typeof build>) => {
    const [closed, al] = [
      await promisedAccountLink(services, http),
      await promisedAccountLink(services, http),
    ];
    await closed.fetch(new Request("https://ours.example/healthz"));
    const { token } = await al.keys.create({ kind: "staff", limits: "none" });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const ask = async (path: string, options = {}) => {
      const response = await al.fetch(new Request(`https://ours.example${path}`, { headers, ...options }));
      return ((await response.json()) as { readonly data: { readonly sid: string } }).data;
    };
    const { sid } = await ask("/v2/sessions", { method: "POST", body: '{"clientId":"7"}' });
    const cursor = await al.events.now();
    const followed = (async () => {
      for await (const event of al.events.follow({ cursor })) return event.type;
      return "over";
    })();
    const waited = al.sessions.wait(sid);
    await closed.close();
    const polled = ask(`/v2/sessions/${sid}?wait=25`);
    await al.links.set("100001", "1");
    expect(await followed).toBe("link.set");
    await al.sessions.cancel(sid);
    expect(await Promise.all([waited, polled])).toMatchObject([
      { state: "cancelled" },
      { state: "cancelled" },
    ]);
    await al.close();
  };
  await Effect.runPromise(
    Effect.scoped(Effect.flatMap(build, (services) => Effect.promise(() => use(services)))),
  );
});

test("each call is a span of a program that exports spans, reads too", async () => {
  const spans: Array<string> = [];
  const tracer = Tracer.make({
    span: (options) => {
      spans.push(options.name);
      return new Tracer.NativeSpan(options);
    },
  });
  const service = AccountLink.layerMemory({ gameUserExists: () => true });
  await Effect.scoped(
    Effect.gen(function* () {
      const services = yield* Layer.build(Layer.merge(service, Layer.succeed(Tracer.Tracer, tracer)));
      const al = yield* Effect.promise(() => promisedAccountLink(services));
      yield* Effect.promise(() => al.links.get("100001"));
      yield* Effect.promise(() => al.keys.list());
    }),
  ).pipe(Effect.runPromise);
  expect(spans).toEqual(expect.arrayContaining(["accountlink.Links.get", "accountlink.Keys.list"]));
});

test("`http: { metrics: true }` serves the metrics of the whole process, which are not served otherwise", async () => {
  const http = { publicUrl: "https://ours.example", clientAddress: "none" } as const;
  const answers = async (metrics: boolean) => {
    const al = await createAccountLink({ gameUserExists: () => true, http: { ...http, metrics } });
    await al.fetch(new Request("https://ours.example/v2/chat?chatId=100001"));
    const answer = await al.fetch(new Request("https://ours.example/metrics"));
    const text = await answer.text();
    await al.close();
    return { status: answer.status, text };
  };
  await Effect.runPromise(Metric.update(Metric.counter("program_players_total"), 7));
  const { status, text } = await answers(true);
  expect(status).toBe(200);
  expect(text).toMatch(/^accountlink_http_requests_total\{.*route="getChat"/m);
  expect(text).toMatch(/^program_players_total 7$/m);
  expect((await answers(false)).status).toBe(404);
});
