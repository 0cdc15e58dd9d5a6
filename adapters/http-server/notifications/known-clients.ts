import type { VerificationResponse } from '../../../src/index.js';
import type { Route, RouteCall } from '../calls/route.js';
import { headerValue } from '../http-message.js';
import { responseMember } from './resource-documents.js';

/*
 * Additions for existing clients, with HCP Terraform names: the application name, and members of the types that the clients declare.
 */

/** The same route; with HCP Terraform names its answer contains the application name and the rate limit. */
export function introducing(route: Route): Route {
  return {
    ...route,
    handle: async (call) => {
      const response = await route.handle(call);
      if (call.names.vocabulary === 'upstream') response.headers.push(...introduction);
      return response;
    },
  };
}

/**
 * Clients distinguish two kinds of servers by the application name, and limit themselves to two thirds of this number of requests per
 * second; below 4 they send none.
 */
const introduction = ['TFP-API-Version', '2.6', 'TFP-AppName', 'HCP Terraform', 'X-RateLimit-Limit', '30'];

/** The form of an element of `delivery-responses` for the requesting client. */
export function responsePrinter({ names, request }: RouteCall): (response: VerificationResponse) => object {
  if (names.vocabulary !== 'upstream') return responseMember;
  // The first generation of the Go client silently drops elements with headers; with null headers it keeps them.
  const withoutHeaders = headerValue(request, 'user-agent') === 'go-tfe';
  return (response) => ({
    ...responseMember(response),
    successful: String(response.successful),
    ...(withoutHeaders ? { headers: null } : {}),
  });
}
