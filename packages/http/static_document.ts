/** Documents that are equal for every client: compressed once, and sent from one buffer. */
import { Base64Url } from "effect/encoding";
import { acceptedEncoding, gzip } from "./compression.ts";
import { emptyResponse, type HttpRequest, HttpResponse } from "./http_app.ts";

/** Answers GET and HEAD with the document, or with 304. */
export type StaticDocument = (request: HttpRequest) => HttpResponse;

export interface StaticDocumentOptions {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const encoder = new TextEncoder();

const hashOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  Base64Url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))).slice(0, 22);

export const makeStaticDocument = async (
  text: string,
  { contentType, headers = {} }: StaticDocumentOptions,
): Promise<StaticDocument> => {
  const bytes = encoder.encode(text);
  const hash = await hashOf(bytes);
  const common = { ...headers, ...documentHeaders };
  const zipped = representation(await gzip(bytes), `"${hash}-gzip"`, contentType, {
    ...common,
    "content-encoding": "gzip",
  });
  const plain = representation(bytes, `"${hash}"`, contentType, common);
  return (request) => {
    const accepted = acceptedEncoding(["gzip"], request.header("accept-encoding"));
    const { etag, whole, unchanged } = accepted === undefined ? plain : zipped;
    return matchesTag(request.header("if-none-match"), etag) ? unchanged : whole;
  };
};

/** Makes a document on the first call and caches it; a failed attempt is not cached. */
export const onceMade = <D extends StaticDocument | null>(make: (path: string) => Promise<D>) => {
  let making: Promise<D> | undefined;
  return (path: string) =>
    (making ??= make(path).catch((error: unknown) => {
      making = undefined;
      throw error;
    }));
};

const documentHeaders = {
  "cache-control": "public, max-age=3600",
  vary: "Accept-Encoding",
  "x-content-type-options": "nosniff",
};

const representation = (
  body: Uint8Array,
  etag: string,
  contentType: string,
  headers: Readonly<Record<string, string>>,
) => ({
  etag,
  whole: new HttpResponse(200, { ...headers, etag, "content-type": contentType }, body),
  unchanged: emptyResponse(304, { ...documentHeaders, etag }),
});

/** Whether an `If-None-Match` header contains the tag. */
const matchesTag = (sent: string | undefined, etag: string): boolean =>
  sent !== undefined && sent.split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));

/** A document that an application serves in addition to its routes, such as the API reference. */
export interface Doc {
  readonly id: string;
  /** A path that ends with `/*` matches every path below. */
  readonly path: `/${string}`;
  /** Whether the document is a page, so that its errors are pages too. */
  readonly isPage: boolean;
  /** Makes the document for a path; null for an unknown path. The result is cached unless `path` ends with `/*`. */
  readonly make: (path: string) => Promise<StaticDocument | null>;
}

/** What a service serves, which its documents describe. */
interface Served {
  /** Whether the routes are left out that are compatible with other services for Roblox. */
  readonly withoutCompat?: boolean;
}

/** Makes the documents of a service. `basePath` is the path of `publicUrl`. */
export type Docs = (publicUrl: string, basePath: string, served?: Served) => ReadonlyArray<Doc>;
