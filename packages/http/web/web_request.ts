/** Adapts a web `Request` for the application. */
import { ByteSize, Effect, Stream } from "effect";
import { BodyTooLarge, type HttpRequest, type HttpResponse, isStream } from "../http_app.ts";

/** How long a client may take to send a body, as the server of Node gives it. */
const bodyTime = "30 seconds";

export class WebRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly remoteAddress: string | undefined;
  readonly #request: Request;
  readonly #onLateBody: () => void;

  /** @param onLateBody called when the client has not sent the body in time */
  constructor(request: Request, remoteAddress: string | undefined, onLateBody: () => void = () => {}) {
    this.method = request.method;
    this.url = targetOf(request.url);
    this.remoteAddress = remoteAddress;
    this.#request = request;
    this.#onLateBody = onLateBody;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  readBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge> {
    return Stream.mkUint8Array(this.streamBody(maxBytes));
  }

  streamBody(maxBytes: number): Stream.Stream<Uint8Array, BodyTooLarge> {
    const { body } = this.#request;
    if (body === null) return Stream.empty;
    const chunks = Stream.orDie(
      Stream.fromReadableStream({ evaluate: () => body, onError: (cause) => cause }),
    ).pipe(Stream.limitBytes(ByteSize.bytes(maxBytes), () => Stream.fail(new BodyTooLarge())));
    const late = Effect.delay(Effect.sync(this.#onLateBody), bodyTime);
    return Stream.unwrap(Effect.as(Effect.forkScoped(late), chunks));
  }
}

const targetOf = (url: string): string => {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.indexOf("#", start);
  return url.slice(start, end === -1 ? undefined : end);
};

export const toWebResponse = (
  { status, headers }: HttpResponse,
  body: string | Uint8Array | ReadableStream<Uint8Array> | null,
): Response => new Response(body as BodyInit | null, { status, headers: headersOf(headers) });

export const toWebHead = (response: HttpResponse): Response => {
  const { body } = response;
  if (isStream(body)) return toWebResponse(response, null);
  const length = typeof body === "string" ? encoder.encode(body).length : (body?.length ?? 0);
  return toWebResponse(response.withHeaders({ "content-length": String(length) }), null);
};

const encoder = new TextEncoder();

/** Returns a plain object if possible, because `Headers` are slow to make. */
const headersOf = (headers: HttpResponse["headers"]): HeadersInit =>
  typeof headers["set-cookie"] === "object"
    ? Object.entries(headers).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      )
    : (headers as Record<string, string>);
