/** Documents that an application serves in addition to its routes, such as the API reference. */
import type { StaticDocument } from "./static_document.ts";

export interface Doc {
  readonly id: string;
  /** A path that ends with `/*` matches every path below. */
  readonly path: `/${string}`;
  /** Whether the document is a page, so that its errors are pages too. */
  readonly isPage: boolean;
  /** Makes the document for a path, or returns null. Called once for a path without `*`. */
  readonly make: (path: string) => Promise<StaticDocument | null>;
}

/** Makes the documents of a service from its public URL and the path of that URL. */
export type Docs = (publicUrl: string, basePath: string) => ReadonlyArray<Doc>;
