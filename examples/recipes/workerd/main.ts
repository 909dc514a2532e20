/** A worker with the service below /links, as Cloudflare runs it. */
import { createAccountLink } from "accountlink";

// Workers start nothing outside of a request. In memory, the links are those of one isolate.
const open = async () => {
  const al = await createAccountLink({
    gameUserExists: async (id) => id === "1",
    http: { publicUrl: "https://ours.example", basePath: "/links", clientAddress: "given" },
  });
  console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);
  return al;
};
let opening: ReturnType<typeof open> | undefined;

export default {
  async fetch(request: Request): Promise<Response> {
    if (!new URL(request.url).pathname.startsWith("/links/")) return new Response("Hello");
    const al = await (opening ??= open());
    // Cloudflare names the client. On your machine nothing does.
    const clientAddress = request.headers.get("cf-connecting-ip") ?? "127.0.0.1";
    return al.fetch(request, { clientAddress });
  },
};
