import type { VerificationResponse } from '../../../src/index.js';
import type { Route, RouteCall } from '../calls/route.js';
import { headerValue } from '../http-message.js';
import { responseMember } from './resource-documents.js';

/*
 * With HCP Terraform names, existing clients find what they read: the name of the application, and members in the types that they
 * declare.
 */

/** The same route; with HCP Terraform names its answer says which interface this is and how fast a client may ask. */
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
 * Clients distinguish two kinds of servers by the name of the application, and limit themselves to two thirds of the
 * requests a second that are given here; with less than 4 they make none.
 */
const introduction = ['TFP-API-Version', '2.6', 'TFP-AppName', 'HCP Terraform', 'X-RateLimit-Limit', '30'];

/** The form of an element of `delivery-responses` for the requesting client. */
export function responsePrinter({ names, request }: RouteCall): (response: VerificationResponse) => object {
  if (names.vocabulary !== 'upstream') return responseMember;
  // The first generation of the Go client drops an element silently that has headers: it keeps the others when they are null.
  const withoutHeaders = headerValue(request, 'user-agent') === 'go-tfe';
  return (response) => ({
    ...responseMember(response),
    successful: String(response.successful),
    ...(withoutHeaders ? { headers: null } : {}),
  });
}
