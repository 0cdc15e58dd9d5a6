import { everybody } from '../../../src/api/access.js';
import type { Route } from '../calls/route.js';

/**
 * Where links in messages lead for a workspace whose host names no own page (`workspaceUrl`): on to the
 * workspace's document. The redirect follows from the path alone, so it reports nobody whether the workspace exists;
 * reading the document takes a right on it.
 */
export const workspacePageRoute: Route = {
  name: 'workspacePage',
  interface: 'system',
  methods: ['GET'],
  path: '/app/{organization}/workspaces/{name}',
  access: everybody,
  handle: ({ pathValues, notificationsPath }) => {
    const [organization = '', name = ''] = pathValues.map(encodeURIComponent);
    const location = `${notificationsPath}/organizations/${organization}/workspaces/${name}`;
    return Promise.resolve({ status: 302, headers: ['Location', location], body: '' });
  },
};
