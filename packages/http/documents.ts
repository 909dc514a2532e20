/** Documents that an application serves beside its routes, such as the API reference. */
import type { StaticDocument } from "./static_document.ts";

export interface Doc {
  /** Its route in metrics. */
  readonly id: string;
  /** With `/*` at its end, every path below. */
  readonly path: `/${string}`;
  /** Whether it is a page, so that its errors are pages too. */
  readonly isPage: boolean;
  /** Makes the document of a path, once for a path without `*`; null for none. */
  readonly make: (path: string) => Promise<StaticDocument | null>;
}

/** Makes the documents for a service at a public URL, which may have a path. */
export type Docs = (publicUrl: string, basePath: string) => ReadonlyArray<Doc>;
