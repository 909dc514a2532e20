/**
 * A browser without a window for the public verification flow: it keeps cookies, sends forms, and follows no
 * redirect. It understands the pages of the service and the sign-in pages of the dev platforms.
 */
import { type Answer, makeClient } from "./http.ts";

/** The choice on a platform's sign-in page: the ID of the user to sign in as, or a denial. */
type SignIn = string | { readonly deny: true };

export interface FlowBrowser {
  /** Cookies for the service; a test may change them. */
  readonly cookies: Map<string, string>;
  readonly get: (address: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly head: (address: string) => Promise<Answer>;
  readonly post: (
    address: string,
    form: Readonly<Record<string, string>> | string | FormData,
  ) => Promise<Answer>;
  /** Begins a step of the verification, and returns the URL of the platform's sign-in page. */
  readonly leave: (step: "chat" | "game", query?: string) => Promise<string>;
  /** Signs in on the platform's page at `authorizeUrl`, and returns the URL to which the platform redirects. */
  readonly signIn: (authorizeUrl: string, as: SignIn) => Promise<string>;
  /** Calls `leave` and `signIn`, opens the URL of the redirect, and returns the service's answer. */
  readonly prove: (step: "chat" | "game", as: SignIn, query?: string) => Promise<Answer>;
  /** Completes the chat step, begun with `query` such as `?sid=…`, and the game step. Returns the next page. */
  readonly walk: (query: string, chatId?: string, gameId?: string) => Promise<Answer>;
  readonly close: () => void;
}

type Form = Parameters<FlowBrowser["post"]>[1];
type Encoded = Awaited<ReturnType<typeof encode>>;

/** Encodes a form as browsers do. Only a form with files is `FormData`. */
const encode = async (form: Form) => {
  if (form instanceof FormData) {
    const response = new Response(form);
    const type = response.headers.get("content-type") ?? "";
    return { type, body: new Uint8Array(await response.arrayBuffer()) };
  }
  const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
  return { type: "application/x-www-form-urlencoded", body };
};

/**
 * @param serviceUrl returns the URL of the server, which is known only while the server runs
 * @param from the client address that the server sees
 */
export const openBrowser = (serviceUrl: () => string, from: string): FlowBrowser => {
  const clients = new Map<string, ReturnType<typeof makeClient>>();
  const cookies = new Map<string, string>();

  const send = async (
    method: "GET" | "HEAD" | "POST",
    address: string,
    encoded: Encoded | null = null,
    given: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const { origin, pathname, search } = new URL(address, serviceUrl());
    const client = clients.get(origin) ?? makeClient(origin);
    clients.set(origin, client);
    const isOurs = origin === new URL(serviceUrl()).origin;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await client.send(`${method} ${pathname}${search}`, {
      from,
      headers: {
        ...given,
        ...(isOurs && cookie !== "" ? { cookie } : {}),
        ...(encoded && { "content-type": encoded.type }),
      },
      ...(encoded && { body: encoded.body }),
    });
    for (const line of isOurs ? (answer.headers["set-cookie"] ?? []) : []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };

  const get: FlowBrowser["get"] = (address, headers) => send("GET", address, null, headers);
  const post: FlowBrowser["post"] = async (address, form) => send("POST", address, await encode(form));
  const leave = async (step: "chat" | "game", query = "") =>
    locationOf(await get(`/verify/${step}/start${query}`));
  const signIn = async (authorizeUrl: string, as: SignIn) =>
    locationOf(await post(authorizeUrl, typeof as === "string" ? { user: as } : { deny: "1" }));
  const prove = async (step: "chat" | "game", as: SignIn, query = "") =>
    get(await signIn(await leave(step, query), as));

  return {
    cookies,
    get,
    head: (address) => send("HEAD", address),
    post,
    leave,
    signIn,
    prove,
    walk: async (query, chatId = "100001", gameId = "1") => {
      await prove("chat", chatId, query);
      return get(locationOf(await prove("game", gameId)));
    },
    close: () => {
      for (const { close } of clients.values()) close();
    },
  };
};

export const locationOf = ({ status, headers, text }: Answer): string => {
  if (headers.location === undefined) {
    throw new Error(`Cannot go on: the answer is ${status} ${titleOf(text)}, expected a redirect`);
  }
  return headers.location;
};

export const titleOf = (text: string): string => /<title>(.*?)<\/title>/s.exec(text)?.[1] ?? "";

export const formOf = ({ text }: Pick<Answer, "text">): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name = "", value = ""]) => [name, unescaped(value)],
    ),
  );

/** Returns what a reader sees of a page: its text without tags, with single spaces. */
export const wordsOf = ({ text }: Answer): string =>
  unescaped(text.replaceAll(/<[^>]+>/g, "").replaceAll(/\s+/g, " "));

const unescaped = (text: string): string =>
  text.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** Returns the HTML of a page without the tags that isolate the direction of names. */
export const withoutIsolation = (html: string): string => html.replaceAll(/<\/?bdi[^>]*>/g, "");
