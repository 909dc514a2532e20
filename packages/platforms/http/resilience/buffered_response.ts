/** Reads whole responses. If a body breaks off, the attempt fails, so that the request can be retried. */
import { ByteSize, Effect, Stream } from "effect";
import { type HttpClientError, HttpClientResponse } from "effect/http";
import { RequestFailed } from "./request_failed.ts";

/** Returns the response with its body in memory. A body over the limit closes the connection. */
export const buffered = (
  response: HttpClientResponse.HttpClientResponse,
  maxBodyBytes: number,
): Effect.Effect<HttpClientResponse.HttpClientResponse, RequestFailed> =>
  Effect.map(readBody(response, maxBodyBytes), (body) => {
    const { request, status, headers } = response;
    // `Response` refuses a body, even an empty one, for statuses such as 204.
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

/**
 * Converts the error of a failed connection. Only the error code of the system is kept, because the error contains the
 * whole request.
 */
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
