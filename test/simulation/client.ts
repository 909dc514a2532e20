/** A client that sends requests to the nodes and records their outcomes. */
import { FlowRefused } from "@accountlink/core/flow";
import {
  BodyTooLarge,
  type HttpRequest,
  type HttpResponse,
  type ResponseStream,
  textOf,
} from "@accountlink/http";
import { latency } from "@accountlink/testing/simulation";
import { Effect, Exit, Stream } from "effect";
import { type Attempt, outcomeOf } from "../faults/attempt.ts";
import type { Answer, Json } from "../support/http.ts";
import type { Deployment } from "./deployment.ts";
import { type Node, publicUrl, type SignedIn } from "./node.ts";

export interface Options {
  readonly key: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
  /** The sign-in to the dashboard from which the request comes. A page sends no key. */
  readonly page?: SignedIn;
}

export interface Sent extends Attempt, Options {
  readonly client: string;
}

/**
 * The longest time until an answer, in milliseconds. A node may take 10 seconds for a request, and may be frozen for 8
 * seconds meanwhile.
 */
const longestAnswer = 20_000;

/** How long a client reads a stream, in milliseconds. */
const longestStream = 10_000;

export class Client {
  readonly name: string;
  readonly deployment: Deployment;
  readonly #history: Array<Sent>;

  constructor(deployment: Deployment, name: string, history: Array<Sent>) {
    this.name = name;
    this.deployment = deployment;
    this.#history = history;
  }

  /** Sends a request to the node with this index, or to the next one that is up. */
  send(index: number, line: Attempt["line"], options: Options): Effect.Effect<Sent> {
    return this.#request(index, line, options, (node) =>
      Effect.flatMap(node.answer(requestOf(line, options)), answerOf),
    );
  }

  /** Has a service of the node do something, as the operator or the browser of a user. */
  act(
    index: number,
    line: Attempt["line"],
    work: (node: Node) => Effect.Effect<unknown, unknown>,
  ): Effect.Effect<Sent> {
    return this.#request(index, line, { key: "" }, (node) =>
      Effect.match(work(node), {
        onSuccess: (data) => ({ status: 200, headers: {}, text: "", body: { data: data as Json } }),
        onFailure: (error) =>
          error instanceof FlowRefused
            ? { status: 409, headers: {}, text: error.reason, body: {} }
            : { status: 503, headers: { "retry-after": "1" }, text: "", body: {} },
      }),
    );
  }

  erase(index: number, chatId: string): Effect.Effect<Sent> {
    return this.act(index, `ERASE ${chatId}`, (node) => node.erase(chatId));
  }

  #request(
    index: number,
    line: Attempt["line"],
    options: Options,
    work: (node: Node) => Effect.Effect<Answer, unknown>,
  ): Effect.Effect<Sent> {
    const { deployment } = this;
    return Effect.suspend(() => {
      const { nodes } = deployment;
      const places = nodes.map((_, offset) => (index + offset) % nodes.length);
      const place = places.find((each) => nodes[each]?.isUp === true) ?? index % nodes.length;
      const node = nodes[place] as Node;
      const called = deployment.now;
      deployment.tell(this.name, () => `→ ${node.name}: ${describe(line, options)}`);
      return this.#exchange(node, () => work(node)).pipe(
        Effect.timeoutOrElse({
          duration: longestAnswer,
          orElse: () =>
            Effect.succeed<Attempt["outcome"]>({
              kind: "wrong",
              problem: `no answer in ${longestAnswer} ms`,
            }),
        }),
        Effect.map((outcome) => {
          const sent = {
            ...options,
            client: this.name,
            node: node.name,
            line,
            called,
            ended: deployment.now,
            outcome,
          };
          deployment.tell(this.name, () => `← ${node.name}: ${describeOutcome(sent)}`);
          deployment.count(`requests ${outcome.kind}`);
          this.#history.push(sent);
          return sent;
        }),
      );
    });
  }

  #exchange(node: Node, work: () => Effect.Effect<Answer, unknown>): Effect.Effect<Attempt["outcome"]> {
    const { world, outside } = this.deployment;
    return Effect.callback((resume) => {
      const end = (outcome: Attempt["outcome"]) =>
        void world.after(latency(world), outside, () => resume(Effect.succeed(outcome)));
      world.after(latency(world), outside, () => {
        if (!node.isUp) return end({ kind: "not sent" });
        const breakOff = () => end({ kind: "broken" });
        node.inFlight.add(breakOff);
        node.start(work(), (exit) => {
          if (!node.inFlight.delete(breakOff)) return;
          end(
            Exit.isSuccess(exit)
              ? outcomeOf(exit.value)
              : { kind: "wrong", problem: `the node failed: ${String(exit.cause)}` },
          );
        });
      });
    });
  }
}

const requestOf = (line: Attempt["line"], { key, body, idempotencyKey, page }: Options): HttpRequest => {
  const space = line.indexOf(" ");
  const headers: Readonly<Record<string, string | undefined>> = {
    ...(page === undefined
      ? { authorization: `Bearer ${key}` }
      : { cookie: `accountlink_session=${page.cookie}`, origin: publicUrl, "x-csrf-token": page.csrf }),
    "content-type": body === undefined ? undefined : "application/json",
    "idempotency-key": idempotencyKey,
  };
  const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body));
  const unlessTooLarge = (maxBytes: number) =>
    bytes.length > maxBytes ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes);
  return {
    method: line.slice(0, space),
    url: line.slice(space + 1),
    remoteAddress: undefined,
    header: (name) => headers[name],
    readBody: unlessTooLarge,
    streamBody: (maxBytes) => Stream.fromEffect(unlessTooLarge(maxBytes)),
  };
};

/** Reads the whole body. Stops reading a stream after `longestStream`, even if the stream has not ended. */
const answerOf = (response: HttpResponse): Effect.Effect<Answer> => {
  const { status, body: sent } = response;
  const headers = response.headers as Readonly<Record<string, string>>;
  if (isStream(sent)) {
    let text = "";
    const read = Stream.runForEach(Stream.decodeText(sent.chunks), (part) =>
      Effect.sync(() => {
        text += part;
      }),
    );
    const reading = Effect.ensuring(Effect.timeoutOption(read, longestStream), sent.release);
    return Effect.map(reading, () => ({ status, headers, text, body: {} }));
  }
  const text = textOf(response);
  return Effect.succeed({ status, headers, text, body: text === "" ? {} : (JSON.parse(text) as Json) });
};

const isStream = (body: HttpResponse["body"]): body is ResponseStream =>
  body !== null && typeof body === "object" && "chunks" in body;

const describe = (line: string, { key, body, idempotencyKey }: Options): string =>
  [
    line,
    body === undefined ? "" : JSON.stringify(body),
    `(${key.slice(4, 16)}${idempotencyKey === undefined ? "" : `, once as ${idempotencyKey}`})`,
  ].join(" ");

export const describeOutcome = ({ line, outcome }: Attempt): string => {
  if (outcome.kind === "answered")
    return `${line.split("?")[0]} ${outcome.answer.status} ${outcome.answer.text}`;
  return `${line.split("?")[0]} ${outcome.kind === "wrong" ? outcome.problem : outcome.kind}`;
};
