/* Loads the code in a file as a region with one input, one output and two constants; runs it twice if that works.
 * Prints "refused", or the sum of the outputs. */
#include "match_dnnl.h"

#include <stdio.h>
#include <stdlib.h>

enum { IMAGE = 4 * 6 * 6, WEIGHTS = 4 * 4 * 3 * 3 };
static float weights[WEIGHTS], bias[4], input[IMAGE], output[IMAGE];
static const uint32_t image_dims[] = {1, 4, 6, 6}, weight_dims[] = {4, 4, 3, 3}, bias_dims[] = {4};
static const match_region_tensor_t in_table[] = {{1, 4, image_dims, NULL}}, out_table[] = {{1, 4, image_dims, NULL}};
static const match_region_tensor_t constants[] = {{1, 4, weight_dims, weights}, {1, 1, bias_dims, bias}};

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) return 2;
    uint8_t *code = malloc(1 << 16); /* of its own, so that reads behind the text are seen */
    const size_t bytes = fread(code, 1, 1 << 16, file);
    fclose(file);
    code = realloc(code, bytes == 0 ? 1 : bytes);
    for (int i = 0; i < WEIGHTS; i++) weights[i] = (float)(i % 7 - 3);
    for (int i = 0; i < IMAGE; i++) input[i] = (float)(i % 5);
    const match_region_t region = {"net", code, (uint32_t)bytes, 1, 1, 2, in_table, out_table, constants};
    const void *in[] = {input};
    void *out[] = {output}, *handle = NULL;
    if (match_dnnl_load(&region, &handle) != 0) {
        printf("refused%s\n", handle == NULL ? "" : ", and a handle is left");
    } else {
        int failed = match_dnnl_run(handle, in, out, NULL) != 0;
        failed = match_dnnl_run(handle, in, out, NULL) != 0 || failed;
        double sum = 0;
        for (int i = 0; i < IMAGE; i++) sum += output[i];
        printf(failed ? "failed\n" : "%.1f\n", sum);
        match_dnnl_unload(handle);
    }
    match_dnnl_unload(NULL);
    free(code);
    return 0;
}
