export const GET = (): Response => new Response("Hello");
