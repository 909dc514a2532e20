/** Calls routes: one attempt after the other, each with its own timeout. */
import { envelopeIn, refusalOf, unanswered } from "./answers.ts";
import type { RouteId, Routes } from "./contract.ts";
import type { ClientOptions, WriteOptions } from "./options.ts";
import { makePace } from "./pace.ts";
import { checkValues, makeRequests, type Outgoing, type Parameters } from "./requests.ts";
import { retrying } from "./retries.ts";
import { routes } from "./routes.ts";
import { type Lifeline, makeLifeline } from "./waiting.ts";

export type Data<Id extends RouteId> = Routes[Id] extends { readonly data: infer A } ? A : never;

type Input = WriteOptions & Parameters;

/** A response, and the abort signal of its connection. */
export interface Received {
  readonly response: Response;
  /** The body; null for a stream, which is read later. */
  readonly text: string | null;
  readonly lifeline: Lifeline;
}

export interface Transport {
  readonly call: <Id extends RouteId>(route: Id, input: Input) => Promise<Data<Id>>;
  /** Returns the response when its stream begins. The caller must call `lifeline.cut` to close the connection. */
  readonly open: (route: RouteId, input: Input, headers: Outgoing["headers"]) => Promise<Received>;
}

export const makeTransport = ({ url, key, fetch = globalFetch, ...defaults }: ClientOptions): Transport => {
  // Plain JavaScript may misspell an option, such as the key.
  for (const name of Object.keys(defaults))
    if (!/^(timeout|retryFor|onAnswer)$/.test(name))
      throw new TypeError(`Cannot create a client: the option "${name}" is unknown`);
  const requestOf = makeRequests({ url, key });
  const inTurn = makePace();

  const receive = async (
    outgoing: Outgoing,
    { signal, timeout = defaults.timeout ?? 15_000 }: Input,
  ): Promise<Received> => {
    const lifeline = makeLifeline(signal);
    let request: Request | undefined;
    const read = async (response: Response) => {
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      return { response, text: isStream ? null : await response.text(), lifeline };
    };
    const wait = Number(outgoing.parameters["wait"] ?? 0) * 1_000;
    try {
      request = requestOf(outgoing, lifeline.signal);
      return await lifeline.within(timeout + wait, fetch(request).then(read));
    } catch (error) {
      lifeline.cut();
      // No retry helps a request that cannot be built.
      if (request === undefined || signal?.aborted === true) throw error;
      throw unanswered(outgoing.route, error);
    }
  };

  const attempt = async <A>(
    outgoing: Outgoing,
    input: Input,
    resultOf: (received: Received, data: unknown) => A | undefined,
  ): Promise<A> => {
    const send = () => receive(outgoing, input);
    const received = await (isPaced(outgoing.route) ? inTurn(send, input.signal) : send());
    const { response, text, lifeline } = received;
    const { status, headers } = response;
    const envelope = envelopeIn(text ?? "");
    if (text !== null) lifeline.cut();
    const { onAnswer = defaults.onAnswer } = input;
    onAnswer?.({ route: outgoing.route, status, meta: envelope.meta ?? null, headers });
    const result = response.ok ? resultOf(received, envelope.data) : undefined;
    if (result === undefined) {
      lifeline.cut();
      throw refusalOf(outgoing.route, response, envelope);
    }
    return result;
  };

  const send = async <A>(
    route: RouteId,
    input: Input,
    headers: Outgoing["headers"],
    resultOf: (received: Received, data: unknown) => A | undefined,
  ): Promise<A> => {
    const outgoing = { route, parameters: parametersIn(input), headers };
    checkValues(outgoing);
    const { retryFor = defaults.retryFor ?? 30_000, signal } = input;
    return retrying(() => attempt(outgoing, input, resultOf), retryFor, signal);
  };

  return {
    call: (route, input) => {
      const { idempotencyKey = randomKey() } = input;
      const headers = "isIdempotent" in routes[route] ? { "idempotency-key": idempotencyKey } : {};
      return send(route, input, headers, (_, data) => data as Data<typeof route> | undefined);
    },
    open: (route, input, headers) =>
      send(route, input, headers, (received) =>
        received.text === null || received.response.status === 204 ? received : undefined,
      ),
  };
};

/** Verification sessions have limits of their own, and leak reports need no key. */
const isPaced = (route: RouteId): boolean => !/sessions|leaked/.test(routes[route].path);

// Reads the global `fetch` for each request, so that a program can replace it.
const globalFetch = (request: Request) => globalThis.fetch(request);

/** `crypto.randomUUID` is missing on pages loaded over plain HTTP. */
const randomKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

const optionNames: Readonly<Record<keyof WriteOptions, true>> = {
  signal: true,
  timeout: true,
  retryFor: true,
  onAnswer: true,
  idempotencyKey: true,
};

const parametersIn = (input: Input): Parameters =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !(name in optionNames)));
