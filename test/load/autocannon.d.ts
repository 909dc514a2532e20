/** The part of autocannon that the bench uses; the package brings no types. */
declare module "autocannon" {
  interface PlannedRequest {
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  interface Connection {
    setRequests(requests: ReadonlyArray<PlannedRequest>): void;
  }

  /** How long to go on: a number of requests, or of seconds. */
  type Extent = { readonly amount: number } | { readonly duration: number };

  interface BaseOptions {
    readonly url: string;
    readonly connections: number;
    readonly headers: Readonly<Record<string, string>>;
    /** Called once for each connection. */
    readonly setupClient: (connection: Connection) => void;
  }

  type Options = BaseOptions & Extent;

  interface Result {
    readonly requests: { readonly total: number };
    /** In seconds. */
    readonly duration: number;
    /** In milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number };
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
    readonly "2xx": number;
  }

  export default function autocannon(options: Options): Promise<Result>;
}
