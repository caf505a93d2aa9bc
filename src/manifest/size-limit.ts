/** Largest manifest that is read, in bytes of UTF-8. Whoever opens the file stops at the same size. */
export const maxManifestBytes = 1024 ** 2;
