export { authenticateToken, tokenAuthenticator } from './authenticate-token.js';
export { bootstrapManagementToken } from './bootstrap-management-token.js';
export { listTokens } from './list-tokens.js';
export { type IssuedToken, putToken, type TokenInfo, type TokenInput, type UnfitSecret } from './put-token.js';
export { removeToken, type TokenNotFound } from './remove-token.js';
