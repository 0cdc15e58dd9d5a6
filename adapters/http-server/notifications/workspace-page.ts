import { everybody } from '../../../src/api/access.js';
import type { Route } from '../calls/route.js';

/**
 * The target of links in messages for a workspace without its own page (`workspaceUrl`): redirects to the workspace's document.
 * The redirect depends only on the path, so it does not reveal whether the workspace exists; reading the document requires a right.
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
