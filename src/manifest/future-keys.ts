/** Keys that the product knows and this version does not read yet, by the map that they belong into. */
export const futureManifestKeys: readonly string[] = ['include', 'selectors', 'prices'];

export const futureTaskKeys: readonly string[] = ['when', 'timeout', 'retry', 'pin', 'expect', 'gate', 'maxItems'];

/** Keys with which people try to set the address of the service. */
const addressKeys: readonly string[] = ['url', 'baseurl', 'base', 'endpoint', 'host', 'server'];

/** Keys with which people try to set the credential. */
const credentialKeys: readonly string[] = ['key', 'apikey', 'token', 'bearer', 'authorization', 'secret', 'password'];

/** The environment variable that a key stands for, so that it can be told where the value belongs. */
export function environmentVariableFor(key: string): 'MEDIABATCH_BASE_URL' | 'MEDIABATCH_API_KEY' | undefined {
  const plain = key.toLowerCase().replaceAll(/[-_]/g, '');
  if (addressKeys.includes(plain)) return 'MEDIABATCH_BASE_URL';
  return credentialKeys.includes(plain) ? 'MEDIABATCH_API_KEY' : undefined;
}
