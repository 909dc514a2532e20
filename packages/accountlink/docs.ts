/** The page `/docs` and the OpenAPI document, for the option `http.docs`. */
export { docs } from "@accountlink/pages/docs";
