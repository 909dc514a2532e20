/** A Cloudflare worker that serves accountlink under /links. A Durable Object holds the links in memory. */
import { createAccountLink } from "accountlink";

interface ObjectNamespace {
  readonly getByName: (name: string) => { readonly fetch: (request: Request) => Promise<Response> };
}

interface Env {
  readonly LINKS: ObjectNamespace;
}

const open = async () => {
  const al = await createAccountLink({
    gameUserExists: async (id) => id === "1",
    http: { publicUrl: "https://ours.example", basePath: "/links", clientAddress: "given" },
  });
  console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);
  return al;
};

/** The service runs in one Durable Object, since requests to a plain worker cannot share connections or timers. */
export class Links {
  #service: ReturnType<typeof open> | undefined;

  async fetch(request: Request): Promise<Response> {
    const al = await (this.#service ??= open());
    // Cloudflare sets this header; on your machine it is missing.
    const clientAddress = request.headers.get("cf-connecting-ip") ?? "127.0.0.1";
    return al.fetch(request, { clientAddress });
  }
}

export default {
  async fetch(request: Request, { LINKS }: Env): Promise<Response> {
    if (!new URL(request.url).pathname.startsWith("/links/")) return new Response("Hello");
    return LINKS.getByName("links").fetch(request);
  },
};
