/* SPDX-License-Identifier: Apache-2.0 */
/* An empty program: it links a whole layer and the layers below, so that a call upward does not
 * link. */
int main(void)
{
	return 0;
}
