/** Couriers carry the events of feeds to receivers. @internal */
export * from "./couriers.ts";
