import { AltsV1, otherServices, type Route } from "@accountlink/http-api";
import { isUnder } from "../http_app.ts";
import type { Envelope } from "./envelope.ts";
import { envelopeCompat } from "./envelope_compat.ts";
import { envelopeV1 } from "./envelope_v1.ts";
import { envelopeV2 } from "./envelope_v2.ts";

/**
 * Returns the fields that decide the format of the response to a request that matches no route. They follow from the
 * path.
 */
export const shapeOf = (url: string): Shape => {
  if (isUnder("/api/v1", url)) return { generation: "v1", ...v1AnswersUnder(url) };
  const service = otherServices.find(({ prefix }) => isUnder(prefix, url));
  return service === undefined ? { generation: "v2" } : { generation: "compat", service };
};

/** Returns the `traffic` and the `version` of the response to a v1 request that matches no route. */
const v1AnswersUnder = (url: string): Pick<Route, "traffic" | "version"> => {
  if (isUnder("/api/v1/verify", url)) return { traffic: "verify" };
  const { path, version } = AltsV1.detectAlts;
  return isUnder(path, url) && version !== undefined ? { version } : {};
};

/** The route fields that decide how a response looks. */
type Shape = Pick<Route, "generation" | "service" | "wordings" | "traffic" | "version">;

export const envelopeOf = (shape: Shape): Envelope => {
  if (shape.service !== undefined) return envelopeCompat(shape.service);
  return shape.generation === "v2" ? envelopeV2 : envelopeV1(shape);
};
