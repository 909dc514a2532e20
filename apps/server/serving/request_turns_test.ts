import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type HttpApp, type HttpRequest, HttpResponse } from "@accountlink/http";
import { listenLocally, runUntil } from "@accountlink/test-servers";
import { Deferred, Effect, Stream } from "effect";
import { expect, it, onTestFinished, vi } from "vitest";
import { readConfig } from "../config/config.ts";
import { answerRequests, makeNodeServer } from "./node_server.ts";
import { RequestTurns } from "./request_turns.ts";

const serve = async (answer: HttpApp["answer"], env: Readonly<Record<string, string>> = {}) => {
  const config = await Effect.runPromise(readConfig(env));
  const server = makeNodeServer(config);
  const turns = new RequestTurns(server, config);
  await runUntil(onTestFinished)(answerRequests(server, turns, { answer, refuse: answer }, () => null));
  const port = await listenLocally(server);
  const open = async () => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    await once(socket, "connect");
    onTestFinished(() => void socket.destroy());
    return { socket, answers: () => text.split("HTTP/1.1 200").length - 1 };
  };
  onTestFinished(() => server.close().closeAllConnections());
  const accepted: Array<Socket> = [];
  server.on("connection", (socket) => accepted.push(socket));
  return { server, open, accepted };
};

const unlimited = { ACCOUNTLINK_IP_PER_SECOND: "0" };

const empty = new HttpResponse(200, {}, null);

const send = (socket: Socket, path: string, count: number, bytes = 0) => {
  const [method, length] = bytes === 0 ? ["GET", ""] : ["POST", `Content-Length: ${bytes}\r\n`];
  const head = `${method} ${path} HTTP/1.1\r\nHost: service.example\r\n${length}\r\n`;
  return socket.write(`${head}${"x".repeat(bytes)}`.repeat(count));
};

const busyFor = (milliseconds: number) => {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
};

/** Answers after so many milliseconds of work, and remembers which paths were asked. */
const remembering = (work = 0) => {
  const paths: Array<string> = [];
  const answer = (request: HttpRequest) =>
    Effect.sync(() => {
      paths.push(request.url);
      if (request.url === "/uncounted") request.noteUncounted?.();
      busyFor(work);
      return empty;
    });
  return { paths, answer };
};

const defaultPipelined = 40;

it.each([
  [16, 0, 2_000],
  [1, 5_000, 100],
])(
  "a connection has at most %i requests of %i bytes in flight, and is read on as they are answered",
  async (limit, bytes, count) => {
    const pending: Array<Deferred.Deferred<HttpResponse>> = [];
    const { open } = await serve(
      () =>
        Effect.suspend(() => {
          const response = Deferred.makeUnsafe<HttpResponse>();
          pending.push(response);
          return Deferred.await(response);
        }),
      unlimited,
    );
    const { socket, answers } = await open();
    send(socket, "/v2/chat", count, bytes);

    await vi.waitUntil(() => pending.length >= limit);
    let most = 0;
    for (let done = 0; done < count; done++) {
      if (pending.length <= done) await vi.waitUntil(() => pending.length > done, { interval: 1 });
      most = Math.max(most, pending.length - done);
      Deferred.doneUnsafe(pending[done] as (typeof pending)[0], Effect.succeed(empty));
    }
    await vi.waitUntil(() => answers() === count);
    expect(most).toBe(limit);
  },
);

it("pipelined forms of many connections go on one at a time, and between them others are answered", async () => {
  let turn = 0;
  const count = () => {
    turn++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  onTestFinished(() => clearImmediate(counting));
  const turns: Array<number> = [];
  const { open } = await serve(
    (request) =>
      Effect.map(Effect.orDie(request.readBody(10_000)), () => {
        turns.push(turn);
        busyFor(2);
        return empty;
      }),
    unlimited,
  );
  const forms = 5;
  const all = await Promise.all(Array.from({ length: 10 }, open));
  for (const { socket } of all) send(socket, "/form", forms, 2_000);
  await expect.poll(() => all.every(({ answers }) => answers() === forms)).toBe(true);
  // The first form of a connection arrives alone, so it goes on at once.
  expect(new Set(turns).size).toBeGreaterThan(turns.length / 2);
});

it("a client that pipelines requests and reads their long answers slowly gets all of them", async () => {
  const body = "x".repeat(300_000);
  const answer = () => Effect.delay(Effect.succeed(new HttpResponse(200, {}, body)), "1 millis");
  const { open } = await serve(answer, unlimited);
  const { socket, answers } = await open();
  const count = 60;
  socket.pause();
  for (let sent = 0; sent < count; sent += 5) send(socket, "/v2/links", 5);
  // Each turn of the event loop reads some bytes, so that the server pauses and resumes the connection.
  const reading = setInterval(() => {
    if (socket.isPaused()) socket.resume();
    else socket.pause();
  }, 1);
  onTestFinished(() => clearInterval(reading));
  await expect.poll(answers, { timeout: 20_000 }).toBe(count);
});

it("of requests that arrive together, none starts before its turn, nor waits for new connections", async () => {
  const { paths, answer } = remembering(3);
  const { open, accepted } = await serve(answer, unlimited);
  const all = await Promise.all(Array.from({ length: 10 }, open));
  await vi.waitUntil(() => accepted.length === 10);
  for (const socket of accepted) socket.emit("data", Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  expect(paths.length).toBe(0);
  await vi.waitUntil(() => all.every(({ answers }) => answers() === 1));
});

it("requests wait while connections are accepted, of which Node accepts one in a turn", async () => {
  const { paths, answer } = remembering(3);
  const { open, accepted } = await serve(answer, unlimited);
  const busy = await Promise.all(Array.from({ length: 10 }, open));
  for (const { socket } of busy) {
    socket.on("data", () => send(socket, "/", 1));
    send(socket, "/", 1);
  }
  await vi.waitUntil(() => paths.length > 20);
  const before = paths.length;
  const count = 50;
  await Promise.all([
    ...Array.from({ length: count }, open),
    vi.waitUntil(() => accepted.length === busy.length + count, { interval: 1 }),
  ]);
  expect(paths.length - before).toBeLessThan(count / 2);
});

it("once a client pipelines, the connections of all clients are parsed in pieces", async () => {
  const { answer } = remembering();
  const { open, server, accepted } = await serve(answer, unlimited);
  let parsed = 0;
  server.on("request", () => parsed++);
  const flood = (socket: Socket | undefined) => {
    const before = parsed;
    socket?.emit("data", Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2_000)));
    return parsed - before;
  };
  const [one, two] = [await open(), await open()];
  await vi.waitUntil(() => accepted.length === 2);
  expect(flood(accepted[0])).toBe(2_000);
  expect(flood(accepted[1])).toBeLessThan(60);
  const three = await open();
  await vi.waitUntil(() => accepted.length === 3);
  expect(flood(accepted[2])).toBeLessThan(60);
  await vi.waitUntil(() => [one, two, three].every(({ answers }) => answers() === 2_000), {
    timeout: 30_000,
  });
});

it("a body that is read slowly arrives whole though another client pipelines meanwhile", async () => {
  const reads = Deferred.makeUnsafe<void>();
  let size = 0;
  const read = (chunk: Uint8Array) =>
    Effect.map(Deferred.await(reads), () => {
      size += chunk.length;
    });
  const { open, accepted } = await serve((request) => {
    const body = request.method === "POST" ? request.streamBody(10_000_000) : Stream.empty;
    return Effect.as(Effect.orDie(Stream.runForEach(body, read)), empty);
  }, unlimited);
  const slow = await open();
  send(slow.socket, "/form", 1, 3_000_000);
  await vi.waitUntil(() => accepted[0]?.isPaused());
  const other = await open();
  send(other.socket, "/nothing", 2);
  await vi.waitUntil(() => other.answers() === 2);
  Deferred.doneUnsafe(reads, Effect.void);
  await vi.waitUntil(() => slow.answers() === 1, { timeout: 5_000 });
  expect(size).toBe(3_000_000);
});

it("requests of several connections start in turns, one of each", async () => {
  const { paths, answer } = remembering();
  const { open, accepted } = await serve(answer, unlimited);
  const [one, two] = [await open(), await open()];
  await vi.waitUntil(() => accepted.length === 2);
  // Both chunks arrive before the first turn.
  for (const [index, path] of ["/one", "/two"].entries()) {
    const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    accepted[index]?.emit("data", Buffer.from(request.repeat(10)));
  }
  await vi.waitUntil(() => one.answers() + two.answers() === 20);
  const leads = paths.map((_, end) => {
    const ones = paths.slice(0, end + 1).filter((path) => path === "/one").length;
    return ones - (end + 1 - ones);
  });
  // If the first request takes more than 2 milliseconds, the second one of its connection is in the queue before others.
  expect(Math.max(...leads.map(Math.abs))).toBeLessThanOrEqual(2);
});

it("requests that wait start for as long as other work takes in a turn of the event loop", async () => {
  const turns: Array<number> = [];
  let [turn, time] = [0, performance.now()];
  const clock = vi.spyOn(performance, "now").mockImplementation(() => time);
  onTestFinished(() => clock.mockRestore());
  const answer = () =>
    Effect.sync(() => {
      turns.push(turn);
      time += 1;
      return empty;
    });
  const { open, accepted } = await serve(answer, unlimited);
  const all = await Promise.all(Array.from({ length: 40 }, open));
  await vi.waitUntil(() => accepted.length === all.length);
  const work = () => {
    turn++;
    time += 10;
    working = setImmediate(work);
  };
  let working = setImmediate(work);
  onTestFinished(() => clearImmediate(working));
  for (const socket of accepted) socket.emit("data", Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  await vi.waitUntil(() => all.every(({ answers }) => answers() === 1));
  // With the shortest time, each turn would start one.
  expect(new Set(turns).size).toBeLessThan(all.length / 2);
});

it.each([0, 3_000])(
  "pipelined requests with %i bytes start up to twice the limit of their address in a second, and go on after it",
  async (bytes) => {
    const { paths, answer } = remembering();
    const { open } = await serve(answer);
    const { socket, answers } = await open();
    const began = performance.now();
    send(socket, "/nothing", 3 * defaultPipelined, bytes);
    await vi.waitUntil(() => answers() >= defaultPipelined);
    expect(paths.length).toBeLessThan(2 * defaultPipelined);
    await vi.waitUntil(() => answers() === 3 * defaultPipelined, { timeout: 10_000 });
    expect(performance.now() - began).toBeGreaterThan(1_900);
  },
);

it("an address over its limit keeps neither a new connection nor uncounted requests waiting", async () => {
  const { paths, answer } = remembering();
  const { open } = await serve(answer);
  const [flood, trusted, other] = [await open(), await open(), await open()];
  send(trusted.socket, "/uncounted", 1);
  await vi.waitUntil(() => trusted.answers() === 1);
  send(flood.socket, "/nothing", 2_000);
  await vi.waitUntil(() => flood.answers() >= defaultPipelined - 1);
  send(trusted.socket, "/trusted", 100);
  send(other.socket, "/other", 1);
  await vi.waitUntil(() => trusted.answers() === 101 && other.answers() === 1);
  expect(paths.filter((path) => path === "/nothing").length).toBeLessThan(2 * defaultPipelined);
});

it("a connection over the limit that its client leaves is closed, and its requests never start", async () => {
  const { paths, answer } = remembering();
  const { open, server } = await serve(answer);
  const { socket, answers } = await open();
  send(socket, "/nothing", 5_000);
  await vi.waitUntil(() => answers() >= defaultPipelined);
  const before = paths.length;
  socket.resetAndDestroy();
  await vi.waitUntil(
    () => new Promise<boolean>((resolve) => server.getConnections((_, count) => resolve(count === 0))),
    { timeout: 5_000 },
  );
  expect(paths.length - before).toBeLessThanOrEqual(defaultPipelined);
});

it("connections of trusted proxies count toward no address", async () => {
  const { answer } = remembering();
  const { open } = await serve(answer, { ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.0/8" });
  const { socket, answers } = await open();
  const began = performance.now();
  send(socket, "/nothing", 500);
  await vi.waitUntil(() => answers() === 500, { timeout: 10_000 });
  // At 40 in a second, the answers would take twelve.
  expect(performance.now() - began).toBeLessThan(10_000);
});

it("a body in many pieces and a request behind it arrive whole", async () => {
  const sizes: Array<number> = [];
  const { open } = await serve((request) =>
    request.readBody(1_000_000).pipe(
      Effect.orDie,
      Effect.map((body) => {
        sizes.push(body.length);
        return empty;
      }),
    ),
  );
  const { socket, answers } = await open();
  const post = `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n${"x".repeat(300_000)}`;
  socket.write(post.repeat(2));
  send(socket, "/after", 1);
  await vi.waitUntil(() => answers() === 3, { timeout: 5_000 });
  expect(sizes.toSorted((one, other) => one - other)).toEqual([0, 300_000, 300_000]);
});

it("chunked bodies of many connections are parsed for a moment in a turn of the event loop, and arrive whole", async () => {
  const size = 20_000;
  const sizes: Array<number> = [];
  const parsedBy: Array<() => number> = [];
  const { open, server, accepted } = await serve(
    (request) =>
      request.readBody(100_000).pipe(
        Effect.orDie,
        Effect.map((body) => {
          sizes.push(body.length);
          return empty;
        }),
      ),
    unlimited,
  );
  server.on("request", (request) => {
    const push = vi.spyOn(request, "push");
    onTestFinished(() => push.mockRestore());
    parsedBy.push(() => push.mock.calls.length);
  });
  const all = await Promise.all(Array.from({ length: 10 }, open));
  await vi.waitUntil(() => accepted.length === all.length);
  const [first, ...others] = accepted;
  const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  first?.emit("data", Buffer.from(head));
  let time = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (time += 1));
  onTestFinished(() => clock.mockRestore());
  const chunks = Buffer.from(`${"1\r\nx\r\n".repeat(size)}0\r\n\r\n`);
  for (const socket of others) socket.emit("data", Buffer.concat([Buffer.from(head), chunks]));
  first?.emit("data", chunks);
  // Each connection has a piece of 1,024 bytes with its head, and one more as long as there is time.
  expect(parsedBy.reduce((sum, parsed) => sum + parsed(), 0)).toBeLessThan(all.length * 400);
  await vi.waitUntil(() => all.every(({ answers }) => answers() === 1), { timeout: 30_000 });
  expect(sizes).toEqual(all.map(() => size));
});
