/**
 * Answers read whole, so that what breaks in a body is a failure of the attempt and not of a later reader.
 */
import { ByteSize, Effect, Stream } from "effect";
import { type HttpClientError, HttpClientResponse } from "effect/http";
import { RequestFailed } from "../request_failed.ts";

/** The same answer with its whole body in memory. A body over the limit ends the connection where it crosses it. */
export const buffered = (
  response: HttpClientResponse.HttpClientResponse,
  maxBodyBytes: number,
): Effect.Effect<HttpClientResponse.HttpClientResponse, RequestFailed> =>
  Effect.map(readBody(response, maxBodyBytes), (body) => {
    const { request, status, headers } = response;
    // A status without a body, such as 204, takes none.
    const source = new Response(body.byteLength === 0 ? null : body, { status, headers });
    return HttpClientResponse.fromWeb(request, source);
  });

const readBody = (response: HttpClientResponse.HttpClientResponse, maxBodyBytes: number) =>
  response.stream.pipe(
    Stream.catchTag("HttpClientError", (error) =>
      error.reason._tag === "EmptyBodyError" ? Stream.empty : Stream.fail(brokenConnection(error)),
    ),
    Stream.limitBytes(ByteSize.bytes(maxBodyBytes), () =>
      Stream.fail(new RequestFailed({ reason: "too_large", status: response.status })),
    ),
    Stream.mkUint8Array,
  );

/** A failed connection. Nothing is kept of the error but the system's code, since it holds the whole request. */
export const brokenConnection = (error: HttpClientError.HttpClientError): RequestFailed => {
  const code = codeOf(error.cause);
  return new RequestFailed({ reason: "connection", ...(code === undefined ? {} : { code }) });
};

const codeOf = (cause: unknown): string | undefined => {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if ("code" in error && /^[A-Z][A-Z0-9_]+$/.test(String(error.code))) return String(error.code);
  }
  return undefined;
};
